// SPDX-License-Identifier: MIT
// What is missing from a stream, and how much is missing from a trace.
//
// A cursor (cursor.h) makes the gaps of one stream; merge() (merge.h) calls the analyses with them in the order of
// time.
#pragma once

#include <cstdint>
#include <optional>

namespace monitor::trace {

// The number of events lost in a gap, if they were not counted.
inline constexpr std::uint64_t unknown_count = ~std::uint64_t(0);

struct Gap {
	std::uint64_t from_time = 0, to_time = 0;
	std::uint64_t discarded = 0; // or unknown_count
};

// The gaps of a trace, summed up.
struct Losses {
	std::uint64_t gaps = 0, discarded = 0;
	bool all_counted = true;

	void add(std::uint64_t lost)
	{
		++gaps;
		all_counted = all_counted && lost != unknown_count;
		discarded += lost != unknown_count ? lost : 0;
	}
	void merge(const Losses &other)
	{
		gaps += other.gaps;
		discarded += other.discarded;
		all_counted = all_counted && other.all_counted;
	}
	// Empty if unknown.
	std::optional<std::uint64_t> counted() const { return all_counted ? std::optional(discarded) : std::nullopt; }
};

} // namespace monitor::trace
