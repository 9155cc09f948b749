// SPDX-License-Identifier: MIT
// A trace's clock: converts its ticks to nanoseconds and to the time of day.
//
// Read from the description (interpret.cpp); everything that prints or compares times uses it.
#pragma once

#include <cstdint>
#include <string>

namespace monitor::trace {

inline constexpr std::int64_t second_ns = 1'000'000'000;

struct Clock {
	std::string name;
	std::uint64_t frequency_hz = second_ns;
	std::int64_t offset_s = 0; // trace time 0 in seconds since the epoch ...
	std::uint64_t offset = 0;  // ... plus this many ticks
	std::string origin = {};   // if not the epoch: what CTF 2 says instead

	// From ticks that may be negative, as in descriptions; called after offset_s is set.
	void set_offset(std::int64_t ticks);
	// A duration in ticks as whole nanoseconds, rounded down; saturates.
	std::uint64_t to_ns(std::uint64_t ticks) const;
	// Trace time as nanoseconds since the epoch; saturates.
	std::int64_t wall_ns(std::uint64_t time) const;
	// The first trace time at or after this wall time; 0 before the clock's origin.
	std::uint64_t from_wall_ns(std::int64_t wall_ns) const;
	// The smallest number of ticks that lasts at least this many nanoseconds; saturates.
	std::uint64_t to_ticks(std::uint64_t duration_ns) const;
	// Whether the ticks of both mean the same instants.
	bool is_same(const Clock &other) const
	{
		return frequency_hz == other.frequency_hz && offset_s == other.offset_s && offset == other.offset &&
		       origin == other.origin;
	}
};

} // namespace monitor::trace
