// SPDX-License-Identifier: MIT
// How far the times of a trace are off its host's clock, and what that adds to the bounds of the host's lines.
//
// Exchanges with the collector read the host's clock; the tokens of a trace have it by the recorder's conversion and by
// the TSC of their CPU. The clock snapshots and clock sets in the recorder's stream bound the difference
// (reading/analyze/clock_bound.h). Invariant: adding it moves no time by more than a nanosecond, and no bound gets
// smaller; where no two snapshots enclose a trace's times, the bound becomes unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/collection/clock_lines.h"
#include "reading/analyze/clock_bound.h"

namespace monitor::fleet {

// The clock error of one trace; times in its ticks.
struct TraceClockError {
	std::uint64_t begin = 0, end = 0; // of the trace
	std::uint64_t frequency_hz = 1;
	std::uint64_t skew_ticks = 0; // between the host's CPUs, which also affects exchanges
	bool has_snapshots = false;   // a recording of monitor; else nothing is known
	std::vector<analyze::ClockInterval> intervals{};

	std::uint64_t skew_ns() const { return ns(skew_ticks); }
	std::uint64_t ns(std::uint64_t ticks) const; // rounded up; saturates
};

// nullopt: unreadable, no times yet, or times of several clocks. Does not throw.
std::optional<TraceClockError> trace_clock_error_of(const std::string &directory);

// Where traces of the host overlap, the largest error counts.
void add_clock_errors(collection::ClockLines &lines, const std::vector<TraceClockError> &all);

} // namespace monitor::fleet
