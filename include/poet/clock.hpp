// SPDX-License-Identifier: MIT
// The clock of a trace: converts ticks to nanoseconds and to the time of day, and prints and parses times.
//
// All event times are ticks, unsigned 64 bits; differences of ticks are exact. Compute in ticks and convert for output.
// Returned by Trace::clock(). Immutable: any number of threads may use it. A copy outlives its trace.
#pragma once

#include <cstdint>
#include <string>

#include "export.hpp"

namespace poet {

// The precision to which a time is printed; finer digits are truncated.
enum class Resolution : std::uint8_t { seconds = 0, milliseconds = 3, microseconds = 6, nanoseconds = 9 };

class POET_API Clock {
public:
	const std::string &name() const { return name_; } // may be empty
	std::uint64_t frequency_hz() const { return frequency_hz_; }
	// The length of a tick in nanoseconds: times that are closer cannot be distinguished.
	double tick_ns() const { return 1e9 / static_cast<double>(frequency_hz_); }
	// The start of what was recorded and the end of the latest packet, in ticks. The start is that of the earliest
	// packet, but in a recording of monitor's the moment since when all probes were attached.
	std::uint64_t begin() const { return begin_; }
	std::uint64_t end() const { return end_; }

	// A duration in ticks as whole nanoseconds, rounded down; saturates.
	std::uint64_t to_ns(std::uint64_t duration_ticks) const;
	// The shortest duration in ticks that lasts at least this many nanoseconds; saturates.
	std::uint64_t to_ticks(std::uint64_t duration_ns) const;

	// A time as nanoseconds since the start of the trace, rounded down; negative before it. These are the times
	// that `monitor list` prints.
	std::int64_t since_begin_ns(std::uint64_t time) const;
	// The first tick at or after this many nanoseconds since the start of the trace; saturates.
	std::uint64_t from_begin_ns(std::int64_t since_begin_ns) const;
	// A time as nanoseconds since 1970-01-01 00:00 UTC; saturates.
	std::int64_t wall_ns(std::uint64_t time) const;
	// The first tick at or after this time; 0 before the clock's origin.
	std::uint64_t from_wall_ns(std::int64_t wall_ns) const;

	// Seconds since the start of the trace: "1.500000000".
	std::string text(std::uint64_t time, Resolution resolution = Resolution::nanoseconds) const;
	// The time of day in the program's time zone: "2026-01-31 12:00:00.500000000".
	std::string wall_text(std::uint64_t time, Resolution resolution = Resolution::nanoseconds) const;
	// Seconds since the start of the trace ("1.5"), or a local time of day ("HH:MM:SS[.FRACTION]", optionally
	// preceded by "YYYY-MM-DD "): the first tick of that nanosecond. Throws Error if the text is neither.
	std::uint64_t parse(const std::string &text) const;

	// For the library itself; programs use Trace::clock().
	Clock(std::string name, std::uint64_t frequency_hz, std::int64_t offset_s, std::uint64_t offset_ticks,
	      std::uint64_t begin, std::uint64_t end);

private:
	std::string name_;
	std::uint64_t frequency_hz_;
	std::int64_t offset_s_; // time 0 in seconds since 1970 ...
	std::uint64_t offset_;  // ... plus this many ticks
	std::uint64_t begin_, end_;
};

} // namespace poet
