// SPDX-License-Identifier: MIT
// What the selection of counters needs to know about the machine, in one place so that a test can supply another
// machine. Created once by the commands (this_machine); events.cpp, groups.cpp and selection.cpp only read it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <linux/perf_event.h>

namespace monitor::pmu {

// Opens these counters as one perf group on one CPU and closes them again. Returns 0, or the errno.
using Probe = std::function<int(const std::vector<perf_event_attr> &)>;

struct Machine {
	std::string devices;               // /sys/bus/event_source/devices
	std::vector<std::string> families; // libpfm4's names of the core PMUs here: "skl", "amd64_fam19h_zen3"
	std::string own_groups;            // directory of the user's own groups; "" if there is none
	long own_groups_uid = -1;          // required owner of those files; -1: any
	Probe probe;
	bool is_virtual = false;
	bool has_watchdog = false; // the NMI watchdog, which holds a counter
	int paranoid = 0;          // kernel.perf_event_paranoid
};

// Whether the kernel runs under a hypervisor or emulator that can be detected.
bool is_virtual_machine();

Machine this_machine();

// Whether the kernel reports that cycles can be counted.
bool has_pmu(const Machine &machine);

// "no PMU in this VM"
std::string no_pmu(const Machine &machine);

// Whether the event is counted by the CPU's own PMU.
inline bool is_of_the_cpu(const perf_event_attr &attributes)
{
	return attributes.type == PERF_TYPE_HARDWARE || attributes.type == PERF_TYPE_HW_CACHE ||
	       attributes.type == PERF_TYPE_RAW;
}

// Why these counters could not be opened, as one short clause.
std::string reason(int error_number, const perf_event_attr &attributes, const Machine &machine);

} // namespace monitor::pmu
