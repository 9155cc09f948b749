// SPDX-License-Identifier: MIT
#include "patch_trial.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/fd.h"
#include "monitor/edc_card.h"
#include "monitor/edc_fields.h"
#include "monitor/function_table.h"
#include "patch_table.h"
#include "recording/card/own_code_offsets.h"
#include "recording/card/trial.h"

namespace monitor::functions {
#ifdef __x86_64__
namespace {

constexpr unsigned calls = 100, max_rounds = 21; // 4 words per call, so that a block is opened now and then
constexpr int max_wait_ms = 10'000;
constexpr std::uint64_t blocks = 32; // more than all rounds fill

// With XRay sleds at the entry and the return.
__attribute__((naked, noinline)) void trial_function()
{
	asm volatile(".byte 0xeb, 0x09\n\t.byte 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0\n\t.byte 0xc3\n\t.byte 0x66, "
		     "0x2e, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0");
}

constexpr std::uint64_t trial_exit = 11;

// Loads the library, which finds its table by the environment. Null: failed.
void *load_library()
{
	const std::uint64_t entry = card::offset_in_own_file(reinterpret_cast<std::uintptr_t>(&trial_function));
	card::Function function{"trial", "/proc/self/exe", 0, {}, {}};
	function.sleds = {{entry, EDC_SLED_XRAY_ENTRY}, {entry + trial_exit, EDC_SLED_XRAY_RETURN}};
	const std::string table = patch_table({function});
	const Fd file(::memfd_create("functions", 0));
	if (!file || ::write(file.get(), table.data(), table.size()) != static_cast<ssize_t>(table.size()))
		return nullptr;
	::setenv(EDC_FUNCTION_TABLE_ENVIRONMENT, fmt::format("/proc/self/fd/{}", file.get()).c_str(), 1);
	::unsetenv(EDC_ENVIRONMENT);
	return ::dlopen(preloaded_library().c_str(), RTLD_NOW);
}

// Gives the library rings without a reader, and its classes ids.
bool connect(void *library)
{
	auto *const page = static_cast<edc_card_page *>(::dlsym(library, "edc_card_page_"));
	struct Object { // as in edc_connect.h
		edc_class **begin, **end;
		Object *next;
	};
	auto *const objects = static_cast<Object **>(::dlsym(library, "edc_objects_"));
	const auto *const rseq = static_cast<const std::ptrdiff_t *>(::dlsym(RTLD_DEFAULT, "__rseq_offset"));
	if (!page || !objects || !*objects || !rseq)
		return false;
	std::uint32_t id = EDC_ID_USER_FIRST;
	for (edc_class **at = (*objects)->begin; at != (*objects)->end; ++at)
		(*at)->id = id++ | static_cast<std::uint32_t>(edc_payload_words_((*at)->fields)) << 16;
	const auto cpus = static_cast<std::uint32_t>(::get_nprocs_conf());
	const std::uint64_t ring_bytes = (1 + blocks) * EDC_BLOCK_SIZE;
	void *const memory = ::mmap(nullptr, EDC_BLOCK_SIZE + cpus * ring_bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	edc_card &card = page->card;
	card.area = static_cast<edc_user_area *>(memory);
	card.first = static_cast<char *>(memory) + EDC_BLOCK_SIZE;
	card.rings = cpus;
	card.ring_bytes = ring_bytes;
	card.blocks = blocks;
	card.mask = blocks * EDC_USER_BLOCK_WORDS - 1;
	card.rseq = *rseq;
	card.pid = static_cast<std::uint64_t>(::getpid());
	card.word = EDC_ON_;
	return true;
}

[[noreturn]] void run(int answer, const record::User &user)
{
	try {
		record::drop_privileges(user);
		double costs[max_rounds] = {};
		std::vector<double> before;
		for (double &cost : costs) {
			cost = card::ns_per_call(trial_function, calls);
			before.push_back(cost);
		}
		void *const library = load_library();
		if (!library || !connect(library))
			::_exit(1);
		// Warm up: a busy program has touched the ring's memory before.
		card::ns_per_call(trial_function, calls);
		for (double &cost : costs) // a call has two events
			cost = (card::ns_per_call(trial_function, calls) - card::quantile(before, 0.5)) / 2;
		::_exit(::write(answer, costs, sizeof costs) != sizeof costs);
	} catch (...) {
		::_exit(1);
	}
}

} // namespace

card::CalibratedCost time_patched_event(const record::User &user)
{
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) < 0)
		return {};
	const Fd answer(ends[0]);
	Fd into(ends[1]);
	const pid_t child = ::fork();
	if (child == 0)
		run(into.get(), user);
	into = Fd();
	std::vector<double> costs(max_rounds);
	const std::size_t bytes = max_rounds * sizeof(double);
	pollfd answers{answer.get(), POLLIN, 0};
	const bool is_whole = child > 0 && ::poll(&answers, 1, max_wait_ms) > 0 &&
			      ::read(answer.get(), costs.data(), bytes) == static_cast<ssize_t>(bytes);
	if (child > 0)
		end_process(child);
	if (!is_whole)
		return {};
	return {card::quantile(costs, 0.25), card::quantile(costs, 0.5), card::quantile(costs, 0.75), 0, max_rounds};
}
#else

card::CalibratedCost time_patched_event(const record::User &)
{
	return {};
}
#endif

} // namespace monitor::functions
