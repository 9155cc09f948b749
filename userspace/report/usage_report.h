// SPDX-License-Identifier: MIT
// The answer to "who used the CPUs, in which mode, and waited how long": tables from what Machine folded.
// Called by cmd_report.cpp.
#pragma once

#include <map>
#include <string>

#include "analyze/activities.h"
#include "analyze/machine.h"
#include "table.h"

namespace monitor::report {

enum class GroupBy { process, thread, cpu, command, cgroup };

struct UsageOptions {
	GroupBy by = GroupBy::process;
	bool filtering = false; // threads outside of -p are summed as `other`
	// What was recorded: a figure without its events is unknown, not 0.
	bool wakings = true, migrations = true, calls = true, faults = true;
	std::map<std::uint64_t, std::string> cgroup_paths;
};

// Sorted by CPU time; idle time and threads that did nothing are left out.
Table usage_table(const analyze::Machine &machine, const trace::Clock &clock, const UsageOptions &options);

// A row per CPU: where its time went, idle and steal included.
Table cpu_table(const analyze::Machine &machine, const trace::Clock &clock, const analyze::RecordingInfo &info);

// An activity table's rows.
Table activity_table(const analyze::ActivityFold &fold, const trace::Clock &clock);

} // namespace monitor::report
