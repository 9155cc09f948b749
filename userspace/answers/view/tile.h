// SPDX-License-Identifier: MIT
// Parts of a picture in the bytes that the page reads: little endian, as every machine is that has a browser.
//
//     slices: for each lane, in the order asked for: u32 number; then number x {u32 bin, bins, key, count, busy low,
//     high} modes:  for each CPU, in the order of `about`: bins x {f32 share of the bin in each of about.modes}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "timeline.h"
#include "window.h"

namespace monitor::view {

// Of these lanes the slices of a level that reach into these bins. `lanes`: "c0,r12,w12": the CPU at place 0, the runs
// and the waits of the thread at place 12; "c*": of all CPUs. Throws Error: there is no such lane or level,
// or it would be more than `max_bytes`.
std::string slices_tile(const Timeline &timeline, unsigned level, std::uint64_t from_bin, std::uint64_t to_bin,
			std::string_view lanes, std::size_t max_bytes);
// Likewise, of a level that the picture does not keep.
std::string slices_tile(const Timeline &timeline, const Window &window, unsigned level, std::uint64_t from_bin,
			std::uint64_t to_bin, std::string_view lanes, std::size_t max_bytes);
std::string modes_tile(const Timeline &timeline, std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned bins);

} // namespace monitor::view
