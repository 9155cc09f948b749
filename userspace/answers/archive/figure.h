// SPDX-License-Identifier: MIT
// Figures: numbers with a name, the same for every measurement of a project.
//
//     elapsed                 how long was recorded
//     cpu of COMMAND          CPU time of the processes of that name, as `monitor report --by command` has it
//     STATISTIC of CALL       of the durations of a system call on the whole machine: p50, p90, p99, min, mean, max,
//                             total, count
//
// One pass over a trace gives all of them. Called when a measurement is added, and by `monitor archive history` and
// `compare` for those that a measurement does not have yet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "answers/report/table.h"

namespace monitor::archive {

struct Figure {
	enum class Kind : std::uint8_t { elapsed, cpu, calls } kind = Kind::elapsed;
	std::string statistic, subject; // for calls: "p99", "fsync"; for cpu: the command

	std::string text() const; // "p99 of fsync"
	report::Unit unit() const;
};

// Also accepts `sys_enter_` before a call. Throws Error listing the figures.
Figure parse_figure(const std::string &text);

struct Measured {
	// By text(). Empty: this trace lacks it. Missing: the kernel has no call of this name.
	std::map<std::string, std::optional<double>> values;
	std::vector<std::string> problems; // messages: parts that could not be read
	bool is_final = true;              // false: the recording may continue, so the values are not kept
};

// Measures a trace directory, in ns or as numbers. Throws Error.
Measured measure(const std::string &directory, const std::vector<Figure> &figures);

} // namespace monitor::archive
