// SPDX-License-Identifier: MIT
#include "function_probes.h"

#include <algorithm>
#include <cerrno>

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "kernel_features.h"
#include "own_code_offsets.h"
#include "trial.h"

namespace monitor::card {
namespace {

// BPF_TRACE_UPROBE_MULTI, which Debian 12's headers lack: include/uapi/linux/bpf.h.
constexpr auto uprobe_multi = static_cast<bpf_attach_type>(48);

struct MultiLink {
	__u32 program, target, attach_type, flags;
	__u64 path, offsets, reference_counts, cookies;
	__u32 count, multi_flags, process, padding;
};

std::uint64_t cookie(std::size_t number, unsigned condition)
{
	return number | std::uint64_t{condition} << 16;
}

constexpr unsigned trial_calls = 500;

// The trial functions return by their second instruction, at offset 4.
constexpr std::uint64_t trial_exit = 4;
#ifdef __x86_64__
__attribute__((naked, noinline)) void cheap_function()
{
	asm volatile(".byte 0x0f, 0x1f, 0x40, 0x00\n\tret"); // nopl 0(%rax)
}
__attribute__((naked, noinline)) void dear_function()
{
	asm volatile(".byte 0x48, 0x8d, 0x40, 0x00\n\tret"); // lea 0(%rax), %rax
}
#else
__attribute__((naked, noinline)) void cheap_function()
{
	asm volatile("nop\n\tret");
}
__attribute__((naked, noinline)) void dear_function()
{
	asm volatile("add x0, x0, #0\n\tret");
}
#endif

} // namespace

struct FunctionProbes::Places {
	std::vector<std::uint64_t> offsets, cookies;

	void add(std::uint64_t offset, std::uint64_t cookie)
	{
		offsets.push_back(offset);
		cookies.push_back(cookie);
	}
};

namespace {

Mapping map_code(const std::string &path)
{
	const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	struct stat status;
	if (!fd || ::fstat(fd.get(), &status) < 0)
		throw Error(errno, fmt::format("--functions: cannot read {}", path));
	const auto size = static_cast<std::size_t>(status.st_size);
	void *address = ::mmap(nullptr, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
	if (address == MAP_FAILED)
		throw Error(errno, fmt::format("--functions: cannot map {}", path));
	return {address, size};
}

} // namespace

void FunctionProbes::add_places(const Function &function, std::size_t number, Places &entries, Places &exits)
{
	entries.add(function.entry, cookie(number, 0));
	for (const FunctionExit &way : function.exits)
		exits.add(way.offset, cookie(number, way.condition));
}

void FunctionProbes::configure(bpf_program *program, bool is_wanted)
{
	bpf_program__set_autoload(program, is_wanted);
	multi_ = is_wanted && kernel_has_uprobe_multi();
	if (multi_)
		bpf_program__set_expected_attach_type(program, uprobe_multi);
}

// False: errno says why.
bool FunctionProbes::attach_all(const bpf_program *program, const std::string &path, const Places &places,
				std::size_t number)
{
	Links &links = links_[number];
	if (multi_) {
		MultiLink link{};
		link.program = static_cast<__u32>(bpf_program__fd(program));
		link.attach_type = uprobe_multi;
		link.path = reinterpret_cast<std::uintptr_t>(path.c_str());
		link.offsets = reinterpret_cast<std::uintptr_t>(places.offsets.data());
		link.cookies = reinterpret_cast<std::uintptr_t>(places.cookies.data());
		link.count = static_cast<__u32>(places.offsets.size());
		Fd fd(static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link)));
		if (!fd)
			return false;
		links.multi.push_back(std::move(fd));
		return true;
	}
	for (std::size_t i = 0; i < places.offsets.size(); ++i) {
		constexpr pid_t every_process = -1;
		bpf_uprobe_opts options{};
		options.sz = sizeof options;
		options.bpf_cookie = places.cookies[i];
		bpf_link *link =
		    bpf_program__attach_uprobe_opts(program, every_process, path.c_str(), places.offsets[i], &options);
		if (!link)
			return false;
		links.single.emplace_back(link);
	}
	return true;
}

// The last uprobe attached at an address runs first, so attach exits before entries: a function's first instruction may
// leave it.
bool FunctionProbes::attach_both(const Programs &programs, const std::string &path, const Places &entries,
				 const Places &exits, std::size_t number)
{
	return (exits.offsets.empty() || attach_all(programs.exit, path, exits, number)) &&
	       attach_all(programs.entry, path, entries, number);
}

void FunctionProbes::attach_each(const Programs &programs, const std::vector<Function> &functions,
				 const std::vector<std::size_t> &numbers)
{
	for (const std::size_t number : numbers) {
		Places entries, exits;
		add_places(functions[number], number, entries, exits);
		if (!attach_both(programs, functions[number].path, entries, exits, number))
			throw Error(errno, fmt::format("--functions: the kernel refuses a probe of {}; choose others",
						       functions[number].name));
	}
}

// The kernel reports a refused uprobe only when it inserts it, that is, where the file is mapped: else the program
// would run without the probe.
void FunctionProbes::attach(const Programs &programs, const std::vector<Function> &functions, bool each)
{
	std::map<std::string, std::vector<std::size_t>> by_path;
	for (std::size_t number = 0; number < functions.size(); ++number)
		if (functions[number].is_probed())
			by_path[functions[number].path].push_back(number);
	for (const auto &[path, numbers] : by_path) {
		const Mapping mapped = map_code(path);
		Places entries, exits;
		for (const std::size_t number : numbers)
			add_places(functions[number], number, entries, exits);
		if (!each && attach_both(programs, path, entries, exits, all))
			continue;
		const int why = errno;
		if (!each)
			detach();
		attach_each(programs, functions, numbers);
		if (!each) // one link for all is refused, single ones are not
			throw Error(
			    why, fmt::format("--functions: the kernel refuses the probes of {}; choose fewer", path));
	}
}

void FunctionProbes::detach()
{
	links_.clear();
}

void FunctionProbes::detach(std::size_t number)
{
	Links links = std::move(links_[number]);
	links_.erase(number);
	while (!links.multi.empty()) // detach in reverse order: the entry first
		links.multi.pop_back();
	while (!links.single.empty())
		links.single.pop_back();
}

std::optional<double> FunctionProbes::time_call(const Programs &programs, void (*function)())
{
	const std::uint64_t place = offset_in_own_file(reinterpret_cast<std::uintptr_t>(function));
	Places first, last;
	first.add(place, 0);
	last.add(place + trial_exit, 0);
	std::optional<double> ns;
	const double without = ns_per_call(function, trial_calls);
	if (place && attach_both(programs, "/proc/self/exe", first, last, all))
		ns = ns_per_call(function, trial_calls) - without;
	detach();
	return ns;
}

CalibratedCost FunctionProbes::time_event(const Programs &programs)
{
	const auto one = time_call(programs, cheap_function), other = time_call(programs, dear_function);
	if (!one || !other)
		return {};
	const auto [low, high] = std::minmax(*one, *other); // a call has two events
	return {low / 2, (low + high) / 4, high / 2, 0, trial_calls};
}

} // namespace monitor::card
