// SPDX-License-Identifier: MIT
// Parts of a picture as binary data for the page, in little endian.
//
//     slices: for each lane, in the order asked for: u32 number; then number x {u32 bin, bins, key, count, busy low,
//     high} modes:  for each CPU, in the order of `about`: bins x {f32 share of the bin in each of about.modes}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "activity_lanes.h"
#include "groups.h"
#include "rows.h"
#include "timeline.h"
#include "window.h"

namespace monitor::view {

// Limit of bins of modes in one answer, for all CPUs: 28 bytes each.
constexpr std::size_t max_answer_bins = 1 << 19;

// Where slices come from.
struct SliceSources {
	const Timeline &timeline;
	const Groups *groups = nullptr; // null: there are no lanes of groups
	const Window *window = nullptr; // for the level, if the picture does not keep it
	const ActivityLanes *activities = nullptr;
	const Rows *rows = nullptr; // null: each thread has a row
	unsigned coarsest = 0;      // finer levels have the slices of this one; not for a window
};

// The slices of a level that overlap these bins, for the given lanes; for a level that is not kept, those of the finest
// one kept. `lanes`: "c0,r12,w12": the CPU with index 0, the runs and the waits of threads' row 12; p3, m3, g3: the
// process, the command, the cgroup with index 3 in its groups; a3: the activity with index 3; "c*": all CPUs. Throws
// Error: there is no such lane or level; TooMuch: more than `max_bytes`.
std::string slices_tile(const SliceSources &sources, unsigned level, std::uint64_t from_bin, std::uint64_t to_bin,
			std::string_view lanes, std::size_t max_bytes);
// The finest level that the picture keeps for all of these lanes.
unsigned kept_level(const SliceSources &sources, std::string_view lanes);
// Throws Error.
std::string modes_tile(const Timeline &timeline, std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned bins);

} // namespace monitor::view
