// SPDX-License-Identifier: MIT
// What each event of a recording cost, for the virtual clocks: from the calibration, with the doubt that there is about
// it; or why that is not known well enough. Used by virtual_times.cpp; the reasons are printed by `monitor report
// --virtual`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reading/analyze/recording_info.h"
#include "reading/ctf/clock.h"
#include "virtual_clock.h"

namespace monitor::cost {

using namespace analyze; // of whose recordings this is

enum class Bound : std::uint8_t { low, middle, high }; // of the cost: high removes most
inline constexpr std::size_t bounds = 3;

struct VirtualCost {
	std::string why_not;                                 // a sentence with the remedy; "": the cost is known
	std::vector<std::array<ProbeTime, bounds>> by_class; // in ticks, by the id of a token
	// Factor on the upper bound of an event's cost while its CPU is idle, and for this many ticks afterwards.
	double after_idle = 1;
	std::uint64_t after_idle_ticks = 0;
	double noise = 0; // the range is this share of a time wider, both ways: runs differ, too, that nobody measures
	double noise_beside_others = 0;   // and this share more if others have all of the CPUs
	std::vector<std::string> reasons; // why the range is as wide as it is
};

VirtualCost virtual_cost(const RecordingInfo &info, const trace::Clock &clock);
// Of a recording that goes on, with the classes that it may have. What is lost meanwhile is the caller's to notice.
VirtualCost live_virtual_cost(const RecordingInfo &info, const trace::Clock &clock);

// Above this share of a measured CPU time, what is left of it says more about the cost than about the program.
inline constexpr double max_overhead = 0.4;

} // namespace monitor::cost
