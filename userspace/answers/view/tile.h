// SPDX-License-Identifier: MIT
// Parts of a picture in the bytes that the page reads: little endian, as every machine is that has a browser.
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

// Bins of modes at once, of all CPUs together: 28 bytes each.
constexpr std::size_t max_answer_bins = 1 << 19;

// What the slices are taken from.
struct Shown {
	const Timeline &timeline;
	const Groups *groups = nullptr; // else there are no lanes of groups
	const Window *window = nullptr; // of the level, if the picture does not keep it
	const ActivityLanes *activities = nullptr;
	const Rows *rows = nullptr; // else each thread has one
	unsigned coarsest = 0;      // finer levels have the slices of this one; not of a window
};

// Of these lanes the slices of a level that reach into these bins, or, of a level that is not kept, those of the finest
// one that is. `lanes`: "c0,r12,w12": the CPU at place 0, the runs and the waits of row 12 of the threads; p3, m3, g3:
// of all threads of the process, the command, the cgroup at place 3 of its groups; a3: of the activity at place 3;
// "c*": of all CPUs. Throws Error: there is no such lane or level; TooMuch: it would be more than `max_bytes`.
std::string slices_tile(const Shown &shown, unsigned level, std::uint64_t from_bin, std::uint64_t to_bin,
			std::string_view lanes, std::size_t max_bytes);
// The finest level that the picture keeps of all of these.
unsigned kept_level(const Shown &shown, std::string_view lanes);
// Throws Error.
std::string modes_tile(const Timeline &timeline, std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned bins);

} // namespace monitor::view
