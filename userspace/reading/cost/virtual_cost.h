// SPDX-License-Identifier: MIT
// The cost of each event of a recording, for the virtual clocks: from the calibration, with its uncertainty; or why it
// is not known well enough. The reasons are printed by `monitor report --virtual`.
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

using namespace analyze; // RecordingInfo and its parts

enum class Bound : std::uint8_t { low, middle, high }; // of the cost: `high` removes most
inline constexpr std::size_t bounds = 3;

struct VirtualCost {
	std::string why_not;                                 // with the remedy; "": the cost is known
	std::vector<std::array<ProbeTime, bounds>> by_class; // in ticks, by the id of a token
	// Factor on the upper bound of an event's cost while its CPU is idle, and for how many ticks afterwards.
	double after_idle = 1;
	std::uint64_t after_idle_ticks = 0;
	double noise = 0; // widens the range both ways by this share: runs differ even without a measurement
	double noise_beside_others = 0;   // more of the same, if other processes use all CPUs
	std::vector<std::string> reasons; // why the range is as wide as it is
};

VirtualCost virtual_cost(const RecordingInfo &info, const trace::Clock &clock);
// For a running recording, with the classes that it may have. The caller checks for losses.
VirtualCost live_virtual_cost(const RecordingInfo &info, const trace::Clock &clock);

// Above this share of a measured CPU time, the remainder says more about the cost than about the program.
inline constexpr double max_overhead = 0.4;

} // namespace monitor::cost
