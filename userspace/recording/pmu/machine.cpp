// SPDX-License-Identifier: MIT
// Describes this machine, from perf_event_open, /proc and /sys. The trial opens what the recorder opens: a system-wide
// counter on CPU 0; without the privilege, a user-mode counter for this process.
#include "machine.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <pwd.h>
#include <unistd.h>

#include "perf_group.h"
#include "pfm.h"

namespace monitor::pmu {
namespace {

constexpr const char *devices_of_the_kernel = "/sys/bus/event_source/devices";

// 0, or errno.
int try_group(const std::vector<perf_event_attr> &attributes, int pid, int cpu)
{
	return open_group(attributes, pid, cpu).empty() ? errno : 0;
}

int probe_kernel(const std::vector<perf_event_attr> &attributes)
{
	const int system_wide = try_group(attributes, -1, 0);
	if (system_wide != EACCES && system_wide != EPERM)
		return system_wide;
	auto in_user_mode = attributes;
	for (perf_event_attr &one : in_user_mode)
		one.exclude_kernel = one.exclude_hv = 1;
	const int alone = try_group(in_user_mode, 0, -1);
	return alone == 0 || alone == ENOENT ? alone : system_wide;
}

int number_in(const char *path, int otherwise)
{
	int number;
	return std::ifstream(path) >> number ? number : otherwise;
}

bool file_contains(const char *path, const char *word)
{
	std::ifstream file(path);
	for (std::string line; std::getline(file, line);)
		if (line.find(word) != std::string::npos)
			return true;
	return false;
}

// Under sudo, the groups of the user who called it.
void find_own_groups(Machine &machine)
{
	const char *sudo = std::getenv("SUDO_UID"), *config = std::getenv("XDG_CONFIG_HOME");
	const char *home = std::getenv("HOME");
	if (::geteuid() == 0 && sudo && *sudo) {
		machine.own_groups_uid = std::strtol(sudo, nullptr, 10);
		const passwd *user = ::getpwuid(static_cast<uid_t>(machine.own_groups_uid));
		home = user ? user->pw_dir : nullptr;
	}
	if (config && *config)
		machine.own_groups = std::string(config) + "/monitor/groups";
	else if (home && *home)
		machine.own_groups = std::string(home) + "/.config/monitor/groups";
}

perf_event_attr plain_cycles()
{
	perf_event_attr cycles{};
	cycles.type = PERF_TYPE_HARDWARE;
	cycles.config = PERF_COUNT_HW_CPU_CYCLES;
	return cycles;
}

} // namespace

bool is_virtual_machine()
{
	return file_contains("/proc/cpuinfo", " hypervisor") || file_contains("/sys/class/dmi/id/sys_vendor", "QEMU") ||
	       ::access("/proc/device-tree/hypervisor", F_OK) == 0 || ::access("/sys/hypervisor/type", F_OK) == 0;
}

Machine this_machine()
{
	Machine machine;
	machine.devices = devices_of_the_kernel;
	machine.families = pfm_families();
	machine.probe = probe_kernel;
	machine.is_virtual = is_virtual_machine();
	machine.has_watchdog = number_in("/proc/sys/kernel/nmi_watchdog", 0) == 1;
	machine.paranoid = number_in("/proc/sys/kernel/perf_event_paranoid", 2);
	find_own_groups(machine);
	return machine;
}

bool has_pmu(const Machine &machine)
{
	const int error_number = machine.probe({plain_cycles()});
	return error_number != ENOENT && error_number != EOPNOTSUPP && error_number != ENODEV;
}

std::string no_pmu(const Machine &machine)
{
	return machine.is_virtual ? "no PMU in this VM" : "no PMU on this machine";
}

std::string reason(int error_number, const perf_event_attr &attributes, const Machine &machine)
{
	switch (error_number) {
	case 0:
		return {};
	case ENOENT:
	case ENODEV:
	case EINVAL:
	case EOPNOTSUPP:
		return is_of_the_cpu(attributes) && !has_pmu(machine) ? no_pmu(machine) : "event unknown to this CPU";
	case EBUSY:
		return machine.has_watchdog
			   ? "counter taken by another user (the NMI watchdog holds one: sysctl kernel.nmi_watchdog=0)"
			   : "counter taken by another user";
	case EACCES:
	case EPERM:
		return "not permitted (perf_event_paranoid is " + std::to_string(machine.paranoid) + ")";
	default:
		return std::strerror(error_number);
	}
}

} // namespace monitor::pmu
