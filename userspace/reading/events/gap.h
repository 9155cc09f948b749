// SPDX-License-Identifier: MIT
// Gap: a place in a stream where events are missing. Losses: how much is missing from a trace.
//
// A cursor (cursor.h) finds the gaps of its stream; merge() (merge.h) passes those of all streams to the analyses, in
// the order of time.
#pragma once

#include <cstdint>
#include <optional>

namespace monitor::trace {

// Sentinel in place of a number of lost events: they were not counted.
inline constexpr std::uint64_t unknown_count = ~std::uint64_t(0);

struct Gap {
	std::uint64_t from_time = 0, to_time = 0;
	std::uint64_t lost = 0; // events, or unknown_count
};

// The sum of a trace's gaps.
struct Losses {
	std::uint64_t gaps = 0, lost = 0; // lost: as far as counted
	bool all_counted = true;

	void add(std::uint64_t count)
	{
		++gaps;
		all_counted = all_counted && count != unknown_count;
		lost += count != unknown_count ? count : 0;
	}
	void merge(const Losses &other)
	{
		gaps += other.gaps;
		lost += other.lost;
		all_counted = all_counted && other.all_counted;
	}
	// Empty if unknown.
	std::optional<std::uint64_t> total_lost() const { return all_counted ? std::optional(lost) : std::nullopt; }
};

} // namespace monitor::trace
