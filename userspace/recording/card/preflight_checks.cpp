// SPDX-License-Identifier: MIT
#include "preflight_checks.h"

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
#include "kernel_features.h"
#include "module_card.h"
#include "preemption.h"
#include "recording/recorder/process_numbers.h"
#include "recording/recorder/recorders.h"

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

PreflightCheck root()
{
	if (::geteuid() == 0)
		return {"privilege", "root", CheckState::good, "recording is possible", ""};
	return {"privilege", "not root", CheckState::limited,
		"reading traces works, recording does not; some checks below are guesses", "run `sudo monitor doctor`"};
}

PreflightCheck type_information()
{
	if (::access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		return {"btf", "present", CheckState::good, "the BPF card adapts to this kernel", ""};
	return {"btf", "missing", CheckState::missing, "the BPF card cannot be loaded",
		"boot a kernel built with CONFIG_DEBUG_INFO_BTF=y (all stock distribution kernels are)"};
}

PreflightCheck kernel()
{
	utsname system{};
	::uname(&system);
	int major = 0, minor = 0;
	std::sscanf(system.release, "%d.%d", &major, &minor);
	if (major > 6 || (major == 6 && minor >= 1))
		return {"kernel", system.release, CheckState::good, "in the tested range (6.1 and newer)", ""};
	if (major > 5 || (major == 5 && minor >= 18))
		return {"kernel", system.release, CheckState::limited,
			"older than the tested range; the card may load (it needs 5.18)", ""};
	return {"kernel", system.release, CheckState::missing,
		"sched_switch does not report the previous state before 5.18", "boot kernel 6.1 or newer"};
}

PreflightCheck lockdown()
{
	const std::string mode = chosen_of(line_of("/sys/kernel/security/lockdown"));
	if (mode == "confidentiality")
		return {"lockdown", mode, CheckState::missing,
			"the kernel refuses BPF programs that read kernel memory",
			"boot with lockdown=integrity or lower"};
	return {"lockdown", mode.empty() ? "none" : mode, CheckState::good, "no obstacle for the BPF card", ""};
}

PreflightCheck preemption()
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
	const std::optional<bool> preempted = probes_can_be_preempted();
	return {"preemption", model, CheckState::good,
		!preempted ? "a test at the start of each recording finds the attach type that loses nothing"
		: *preempted
		    ? "BPF probes of system calls could be preempted: they attach as tracepoint programs, which "
		      "cost more"
		    : "probes cannot be preempted",
		""};
}

PreflightCheck clock()
{
	const std::string source = line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource");
	if (!has_invariant_tsc())
		return {"clock", source, CheckState::limited, "no invariant TSC: traces use the monotonic clock", ""};
	return {"clock", source, CheckState::good, "traces use the time stamp counter, with its error bound", ""};
}

// Whether a class is probed at a tracepoint; others have a line of their own, or are the recorder's.
bool is_of_tracepoint(const ClassRow &row)
{
	const std::string_view name = row.name, family = row.family;
	return name.find("_fault") == std::string_view::npos && name != "thread_counts" && name != "thread_runs" &&
	       family != "sample" && family != "stack" && family != "function" && family != "trigger";
}

PreflightCheck tracepoints()
{
	std::string lacking;
	for (const ClassRow &row : kernel_classes())
		if (is_of_tracepoint(row) && tracepoint_of(row.name).empty())
			lacking += (lacking.empty() ? "" : ", ") + std::string(row.name);
	if (lacking.empty())
		return {"tracepoints", "all", CheckState::good, "every event class can be recorded", ""};
	return {"tracepoints", "without " + lacking, CheckState::limited, "these events are left out of recordings",
		""};
}

PreflightCheck page_faults()
{
	if (kernel_has_tracepoint("page_fault_user"))
		return {"page faults", "entry and completion", CheckState::good,
			"time in page faults is distinguished from user time", ""};
	return {"page faults", "completion only", CheckState::limited,
		"user time and page faults cannot be told apart: unattributed", ""};
}

PreflightCheck stacks()
{
#if defined(__x86_64__)
	return {"stacks", "kernel and programs", CheckState::good,
		"callers are found by the unwind tables that programs have for exceptions (record --stacks)", ""};
#else
	return {"stacks", "kernel, programs with frame pointers", CheckState::limited,
		"without unwind tables here, other programs' stacks end early, which is said",
		"build programs with -fno-omit-frame-pointer"};
#endif
}

PreflightCheck irq_time()
{
	if (kernel_takes_irq_time_out())
		return {"irq time", "taken out", CheckState::good,
			"this kernel takes interrupt time out of a thread's own run time; reports include and show it",
			""};
	return {"irq time", "left in", CheckState::good,
		"this kernel's own run times include interrupts, as reports do", ""};
}

PreflightCheck pmu()
{
	perf_event_attr attributes{};
	attributes.size = sizeof attributes;
	attributes.type = PERF_TYPE_HARDWARE;
	attributes.config = PERF_COUNT_HW_CPU_CYCLES;
	const Fd fd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
	if (fd)
		return {"pmu", "present", CheckState::good, "hardware counters can be read", ""};
	return {"pmu", std::string("none (") + std::strerror(errno) + ")", CheckState::limited,
		"no cycles and no cache events on this machine; events and times are not affected",
		"in a VM: let the host pass the PMU through"};
}

PreflightCheck restartable_sequences()
{
	const bool registered = &__rseq_size != nullptr && __rseq_size != 0;
	return {"rseq", registered ? "registered by the C library" : "not registered",
		registered ? CheckState::good : CheckState::limited,
		registered ? "instrumented programs can post events of their own"
			   : "events of instrumented programs that are started like this one cost more and have no CPU",
		""};
}

// Whether the kernel rejects unsigned modules.
bool wants_signed_modules()
{
	if (chosen_of(line_of("/sys/kernel/security/lockdown")).starts_with("integrity") ||
	    line_of("/sys/module/module/parameters/sig_enforce") == "Y")
		return true;
	const std::string secure_boot =
	    read_text("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", 5);
	return secure_boot.size() == 5 && secure_boot[4] == 1;
}

// The group whose programs get rings from the module without a recorder; "" if none.
std::string group_of_device()
{
	struct stat device;
	if (::stat(EDC_DEVICE, &device) < 0 || (device.st_mode & 0060) != 0060 || device.st_gid == 0)
		return "";
	const group *entry = ::getgrgid(device.st_gid);
	return entry ? entry->gr_name : std::to_string(device.st_gid);
}

PreflightCheck module()
{
	const std::string why = why_no_module();
	if (why.empty()) {
		const std::string programs = group_of_device();
		return {"module", "loaded", CheckState::good,
			"recordings use its rings, and its probes where it has them" +
			    (programs.empty() ? "" : "; programs of the group " + programs + " get rings from it"),
			""};
	}
	const auto without = [](const char *value, const char *remedy) {
		return PreflightCheck{"module", value, CheckState::good, "not needed, as the BPF card records", remedy};
	};
	if (::access(EDC_DEVICE, F_OK) == 0)
		return {"module", "not usable", CheckState::limited, "the BPF card records; " + why, ""};
	utsname system{};
	::uname(&system);
	if (::access("/proc/modules", F_OK) != 0)
		return without("this kernel cannot load modules", "");
	if (::access(fmt::format("/lib/modules/{}/build", system.release).c_str(), F_OK) != 0)
		return without("not loaded, and the kernel's headers are missing",
			       "to use it: install the headers of this kernel, then see Documentation/module.md");
	if (wants_signed_modules())
		return without("not loaded; this kernel requires signed modules (Secure Boot or lockdown)",
			       "to use it: sign it with a key that this machine trusts, see Documentation/module.md");
	return without("not loaded", "to use it: see Documentation/module.md");
}

PreflightCheck process_numbers()
{
	if (record::in_first_pid_namespace())
		return {"process numbers", "the kernel's own", CheckState::good, "processes can be chosen with -p", ""};
	return {"process numbers", "a container's own", CheckState::limited,
		"the whole machine can be recorded, but not a command or the processes of -p",
		"start the container with the host's process numbers (--pid=host)"};
}

PreflightCheck misses_counted()
{
	return {"recursion_misses", "counted", CheckState::good,
		"events for which the kernel refuses to run a probe are counted (5.12 and newer)", ""};
}

PreflightCheck limits()
{
	return {"limits",
		fmt::format("perf_event_paranoid {}, unprivileged_bpf_disabled {}, pid_max {}",
			    line_of("/proc/sys/kernel/perf_event_paranoid"),
			    line_of("/proc/sys/kernel/unprivileged_bpf_disabled"), line_of("/proc/sys/kernel/pid_max")),
		CheckState::good, "root is not limited by them", ""};
}

} // namespace

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

PreflightCheck recorders()
{
	const std::vector<pid_t> all = record::other_recorders();
	if (all.empty())
		return {"recordings", "none runs", CheckState::good,
			"several can run at once, each with its own probes", ""};
	std::string text;
	std::uint64_t sum = 0;
	bool is_known = true;
	for (const pid_t pid : all) {
		const std::optional<std::uint64_t> bytes = record::map_bytes_of(pid);
		text +=
		    fmt::format("{}process {}: {}", text.empty() ? "" : ", ", pid,
				bytes ? fmt::format("{:.1f} MB", static_cast<double>(*bytes) / 1e6) : "memory unknown");
		sum += bytes.value_or(0);
		is_known &= bytes.has_value();
	}
	return {"recordings", text, CheckState::good,
		fmt::format("{} run, with {} of kernel memory in all; events cost time in the probes of each",
			    all.size(),
			    is_known ? fmt::format("{:.1f} MB", static_cast<double>(sum) / 1e6) : "an unknown amount"),
		""};
}

std::vector<PreflightCheck> preflight_checks()
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
		stacks(),
		pmu(),
		restartable_sequences(),
		module(),
		recorders(),
		limits()};
}

} // namespace monitor::card
