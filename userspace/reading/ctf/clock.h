// SPDX-License-Identifier: MIT
// A trace's clock: converts ticks to nanoseconds and to the time of day. Read from the description (interpret.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monitor::trace {

inline constexpr std::int64_t second_ns = 1'000'000'000;

// A step of the system's real-time clock.
struct RealTimeStep {
	std::uint64_t time = 0; // in the trace's clock: at most a tenth of a second after the step
	std::int64_t ns = 0;    // size; positive: forwards
	bool operator==(const RealTimeStep &) const = default;
};

// From "TIME+NS TIME-NS ...", as in the recorder's descriptions (recording/session/metadata.cpp). Empty: malformed.
std::optional<std::vector<RealTimeStep>> parse_steps(std::string_view untrusted_text);

struct Clock {
	std::string name;
	std::uint64_t frequency_hz = second_ns;
	std::int64_t offset_s = 0;            // trace time 0 in seconds since the epoch ...
	std::uint64_t offset = 0;             // ... plus this many ticks
	std::string origin = {};              // if not the epoch: the origin that CTF 2 gives
	std::vector<RealTimeStep> steps = {}; // in the order of time; the offsets are for after the last one

	// From ticks that may be negative, as in descriptions; called after offset_s is set.
	void set_offset(std::int64_t ticks);
	// A duration in ticks as whole nanoseconds, rounded down; saturates.
	std::uint64_t to_ns(std::uint64_t ticks) const;
	// From one time to another in nanoseconds, rounded down: negative if `time` is earlier; saturates.
	std::int64_t since_ns(std::uint64_t begin, std::uint64_t time) const;
	// The first time at least this long after `begin`; saturates.
	std::uint64_t from_since_ns(std::uint64_t begin, std::int64_t since_ns) const;
	// Trace time as nanoseconds since the epoch; saturates.
	std::int64_t wall_ns(std::uint64_t time) const;
	// The first trace time at or after this wall time; 0 before the clock's origin. If the clock was set back, a
	// wall time occurs twice: the first.
	std::uint64_t from_wall_ns(std::int64_t wall_ns) const;
	// The smallest number of ticks that lasts at least this many nanoseconds; saturates.
	std::uint64_t to_ticks(std::uint64_t duration_ns) const;
	// Whether both clocks' ticks are the same instants.
	bool is_same(const Clock &other) const
	{
		return frequency_hz == other.frequency_hz && offset_s == other.offset_s && offset == other.offset &&
		       origin == other.origin && steps == other.steps;
	}

private:
	std::int64_t wall_ns_without_steps(std::uint64_t time) const;
	std::uint64_t from_wall_ns_without_steps(std::int64_t wall_ns) const;
};

} // namespace monitor::trace
