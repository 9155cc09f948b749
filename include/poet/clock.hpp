// SPDX-License-Identifier: MIT
// The clock of a trace: what its ticks are in nanoseconds and in the time of day, and how they are printed and read.
//
// All times of events are ticks, unsigned 64 bits; differences of ticks are exact. Count in ticks and convert what is
// printed. From Trace::clock(); immutable: any number of threads may use it. Needs no trace to live on.
#pragma once

#include <cstdint>
#include <string>

#include "export.hpp"

namespace poet {

// To how many digits of a second a time is printed; what lies below is cut off.
enum class Resolution : std::uint8_t { seconds = 0, milliseconds = 3, microseconds = 6, nanoseconds = 9 };

class POET_API Clock {
public:
	const std::string &name() const { return name_; } // may be empty
	std::uint64_t frequency_hz() const { return frequency_hz_; }
	// How long a tick is, in nanoseconds: no two times are told apart that are closer.
	double tick_ns() const { return 1e9 / static_cast<double>(frequency_hz_); }
	// Of the earliest and of the latest packet of the trace, in ticks.
	std::uint64_t begin() const { return begin_; }
	std::uint64_t end() const { return end_; }

	// A duration in ticks as whole nanoseconds, rounded down; saturates.
	std::uint64_t to_ns(std::uint64_t duration_ticks) const;
	// The least duration in ticks of at least so many nanoseconds; saturates.
	std::uint64_t to_ticks(std::uint64_t duration_ns) const;

	// A time as nanoseconds since the trace's begin, rounded down; negative before it. These are the times that
	// `monitor list` prints.
	std::int64_t since_begin_ns(std::uint64_t time) const;
	// The first time of so many nanoseconds since the trace's begin; saturates.
	std::uint64_t from_begin_ns(std::int64_t since_begin_ns) const;
	// A time as nanoseconds since 1970-01-01 00:00 UTC; saturates.
	std::int64_t wall_ns(std::uint64_t time) const;
	// The first time at or after this one; 0 before the clock's origin.
	std::uint64_t from_wall_ns(std::int64_t wall_ns) const;

	// Seconds since the trace's begin: "1.500000000".
	std::string text(std::uint64_t time, Resolution resolution = Resolution::nanoseconds) const;
	// The time of day where the program runs: "2026-01-31 12:00:00.500000000".
	std::string wall_text(std::uint64_t time, Resolution resolution = Resolution::nanoseconds) const;
	// Seconds since the trace's begin ("1.5"), or a local time of day ("HH:MM:SS[.FRACTION]", with "YYYY-MM-DD "
	// before it or without): the first tick of that nanosecond. Throws Error if it is none of these.
	std::uint64_t parse(const std::string &text) const;

	// As monitor's library has it; programs take a trace's.
	Clock(std::string name, std::uint64_t frequency_hz, std::int64_t offset_s, std::uint64_t offset_ticks,
	      std::uint64_t begin, std::uint64_t end);

private:
	std::string name_;
	std::uint64_t frequency_hz_;
	std::int64_t offset_s_; // time 0 in seconds since 1970 ...
	std::uint64_t offset_;  // ... plus so many ticks
	std::uint64_t begin_, end_;
};

} // namespace poet
