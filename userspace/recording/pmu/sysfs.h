// SPDX-License-Identifier: MIT
// PMUs as the kernel lists them under /sys/bus/event_source/devices: type, format of their terms, events by name. Reads
// small files and caches nothing. Throws Error for terms that a PMU does not have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <linux/perf_event.h>

namespace monitor::pmu {

struct SysfsEvent {
	perf_event_attr attributes{};
	std::string unit; // "Joules"
	double scale = 1; // a count times this is in the unit
};

// Whether this is the name of a CPU core's PMU: "cpu", "cpu_atom", "armv8_pmuv3_0".
bool is_core_pmu(const std::string &pmu);

std::vector<std::string> sysfs_pmus(const std::string &devices);

// The PMU's directory name here: `cpu` also means the core's PMU where that has another name. "" if there is none.
std::string find_pmu(const std::string &devices, const std::string &pmu);

// The PMU of this type number; "" if there is none.
std::string pmu_of_type(const std::string &devices, unsigned type);

// "event=0xc0,umask=0" or an event's name, of the PMU in directory `pmu`.
SysfsEvent sysfs_event(const std::string &devices, const std::string &pmu, const std::string &terms);

// Names of the PMU's events.
std::vector<std::string> sysfs_events(const std::string &devices, const std::string &pmu);

} // namespace monitor::pmu
