// SPDX-License-Identifier: MIT
#include "facts.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <grp.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "bpf_card.h"
#include "classes.h"
#include "module_card.h"
#include "tracepoints.h"

extern "C" __attribute__((weak)) const unsigned int __rseq_size;

namespace monitor::card {
namespace {

std::string line_of(const std::string &path)
{
	const std::string text = read_text(path);
	return text.substr(0, text.find('\n'));
}

// "none [voluntary] full" -> "voluntary"
std::string chosen_of(const std::string &text)
{
	const std::size_t open = text.find_first_of("[("), close = text.find_first_of("])", open);
	return open == std::string::npos || close == std::string::npos ? text : text.substr(open + 1, close - open - 1);
}

Fact root()
{
	if (::geteuid() == 0)
		return {"privilege", "root", FactState::good, "recording is possible", ""};
	return {"privilege", "not root", FactState::limited,
		"reading traces works, recording does not; some facts below are guesses", "run `sudo monitor doctor`"};
}

Fact type_information()
{
	if (::access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		return {"btf", "present", FactState::good, "the BPF card fits itself to this kernel", ""};
	return {"btf", "missing", FactState::missing, "the BPF card cannot be loaded",
		"boot a kernel built with CONFIG_DEBUG_INFO_BTF=y (all stock distribution kernels are)"};
}

Fact kernel()
{
	utsname system{};
	::uname(&system);
	int major = 0, minor = 0;
	std::sscanf(system.release, "%d.%d", &major, &minor);
	if (major > 6 || (major == 6 && minor >= 1))
		return {"kernel", system.release, FactState::good, "in the tested range (6.1 and newer)", ""};
	if (major > 5 || (major == 5 && minor >= 18))
		return {"kernel", system.release, FactState::limited,
			"older than the tested range; the card may load (it needs 5.18)", ""};
	return {"kernel", system.release, FactState::missing,
		"sched_switch does not tell the previous state before 5.18", "boot a kernel of 6.1 or newer"};
}

Fact lockdown()
{
	const std::string mode = chosen_of(line_of("/sys/kernel/security/lockdown"));
	if (mode == "confidentiality")
		return {"lockdown", mode, FactState::missing, "the kernel refuses BPF programs that read kernel memory",
			"boot with lockdown=integrity or lower"};
	return {"lockdown", mode.empty() ? "none" : mode, FactState::good, "no obstacle for the BPF card", ""};
}

Fact preemption()
{
	std::string model = chosen_of(line_of("/sys/kernel/debug/sched/preempt"));
	if (model.empty()) {
		utsname system{};
		::uname(&system);
		model = std::strstr(system.version, "PREEMPT_RT")        ? "realtime"
			: std::strstr(system.version, "PREEMPT_DYNAMIC") ? "dynamic"
			: std::strstr(system.version, "PREEMPT")         ? "full"
									 : "none or voluntary";
	}
	return {"preemption", model, FactState::good,
		"a test at the start of each recording finds the attach type that loses nothing", ""};
}

Fact clock()
{
	const std::string source = line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource");
	if (!has_invariant_tsc())
		return {"clock", source, FactState::limited, "no invariant TSC: traces use the monotonic clock", ""};
	return {"clock", source, FactState::good, "traces use the time stamp counter, with its error bound", ""};
}

Fact tracepoints()
{
	std::string lacking;
	for (const ClassRow &row : kernel_classes())
		if (!kernel_has_tracepoint(row.name) && !std::strstr(row.name, "_fault") &&
		    std::strcmp(row.name, "thread_counts") != 0)
			lacking += (lacking.empty() ? "" : ", ") + std::string(row.name);
	if (lacking.empty())
		return {"tracepoints", "all", FactState::good, "every event class can be recorded", ""};
	return {"tracepoints", "without " + lacking, FactState::limited, "these events are left out of recordings", ""};
}

Fact page_faults()
{
	if (kernel_has_tracepoint("page_fault_user"))
		return {"page faults", "entry and completion", FactState::good,
			"time in page faults is told from user time", ""};
	return {"page faults", "completion only", FactState::limited,
		"user time and page faults cannot be told apart: unattributed", ""};
}

Fact irq_time()
{
	if (kernel_takes_irq_time_out())
		return {
		    "irq time", "taken out", FactState::good,
		    "this kernel takes interrupt time out of a thread's own run time; reports keep it in and show it",
		    ""};
	return {"irq time", "left in", FactState::good, "this kernel's own run times include interrupts, as reports do",
		""};
}

Fact pmu()
{
	perf_event_attr attributes{};
	attributes.size = sizeof attributes;
	attributes.type = PERF_TYPE_HARDWARE;
	attributes.config = PERF_COUNT_HW_CPU_CYCLES;
	const Fd fd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
	if (fd)
		return {"pmu", "present", FactState::good, "hardware counters can be read", ""};
	return {"pmu", std::string("none (") + std::strerror(errno) + ")", FactState::limited,
		"no cycles, no cache events on this machine; events and times are not affected",
		"in a VM: let the host pass the PMU through"};
}

Fact restartable_sequences()
{
	const bool registered = &__rseq_size != nullptr && __rseq_size != 0;
	return {"rseq", registered ? "registered by the C library" : "not registered",
		registered ? FactState::good : FactState::limited,
		registered
		    ? "instrumented programs can post events of their own"
		    : "events of instrumented programs that were started like this one cost more and bear no CPU",
		""};
}

// Modules without a signature that the kernel knows are refused.
bool wants_signed_modules()
{
	if (chosen_of(line_of("/sys/kernel/security/lockdown")).starts_with("integrity") ||
	    line_of("/sys/module/module/parameters/sig_enforce") == "Y")
		return true;
	const std::string secure_boot =
	    read_text("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", 5);
	return secure_boot.size() == 5 && secure_boot[4] == 1;
}

// The group whose programs get rings of the module without a recorder; "": none.
std::string group_of_device()
{
	struct stat device;
	if (::stat(EDC_DEVICE, &device) < 0 || (device.st_mode & 0060) != 0060 || device.st_gid == 0)
		return "";
	const group *entry = ::getgrgid(device.st_gid);
	return entry ? entry->gr_name : std::to_string(device.st_gid);
}

Fact module()
{
	const std::string why = why_no_module();
	if (why.empty()) {
		const std::string programs = group_of_device();
		return {"module", "loaded", FactState::good,
			"recordings use its rings, and its probes where it has them" +
			    (programs.empty() ? "" : "; programs of the group " + programs + " get rings from it"),
			""};
	}
	const auto without = [](const char *value, const char *remedy) {
		return Fact{"module", value, FactState::good, "not needed: the BPF card records", remedy};
	};
	if (::access(EDC_DEVICE, F_OK) == 0)
		return {"module", "not usable", FactState::limited, "the BPF card records; " + why, ""};
	utsname system{};
	::uname(&system);
	if (::access("/proc/modules", F_OK) != 0)
		return without("this kernel takes no modules", "");
	if (::access(fmt::format("/lib/modules/{}/build", system.release).c_str(), F_OK) != 0)
		return without("not loaded, and the kernel's headers are missing",
			       "to have it: install the headers of this kernel, then see Documentation/module.md");
	if (wants_signed_modules())
		return without("not loaded; this kernel wants modules signed (Secure Boot or lockdown)",
			       "to have it: sign it with a key that this machine knows, see Documentation/module.md");
	return without("not loaded", "to have it: see Documentation/module.md");
}

Fact process_numbers()
{
	if (in_first_pid_namespace())
		return {"process numbers", "the kernel's own", FactState::good, "processes can be chosen with -p", ""};
	return {"process numbers", "a container's own", FactState::limited,
		"the whole machine can be recorded, but neither a command nor -p",
		"start the container with the host's numbers (--pid=host)"};
}

Fact misses_counted()
{
	return {"recursion_misses", "counted", FactState::good,
		"what the kernel refuses to a probe is known (5.12 and newer)", ""};
}

Fact limits()
{
	return {"limits",
		fmt::format("perf_event_paranoid {}, unprivileged_bpf_disabled {}, pid_max {}",
			    line_of("/proc/sys/kernel/perf_event_paranoid"),
			    line_of("/proc/sys/kernel/unprivileged_bpf_disabled"), line_of("/proc/sys/kernel/pid_max")),
		FactState::good, "root is not limited by them", ""};
}

} // namespace

bool in_first_pid_namespace()
{
	char name[64];
	const ssize_t length = ::readlink("/proc/self/ns/pid", name, sizeof name);
	return length <= 0 || std::string_view(name, static_cast<std::size_t>(length)) == "pid:[4026531836]";
}

bool has_invariant_tsc()
{
#if defined(__x86_64__)
	const std::string cpu = read_text("/proc/cpuinfo");
	const auto has = [&](const char *flag) { return cpu.find(flag) != std::string::npos; };
	return has(" constant_tsc") &&
	       (has(" nonstop_tsc") ||
		line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource") == "tsc");
#else
	return true;
#endif
}

bool kernel_takes_irq_time_out()
{
	return read_text("/proc/kallsyms").find(" irqtime_account_irq\n") != std::string::npos;
}

std::vector<Fact> machine_facts()
{
	return {kernel(),
		root(),
		type_information(),
		lockdown(),
		process_numbers(),
		tracepoints(),
		page_faults(),
		preemption(),
		clock(),
		misses_counted(),
		irq_time(),
		pmu(),
		restartable_sequences(),
		module(),
		limits()};
}

} // namespace monitor::card
