// SPDX-License-Identifier: MIT
// The time window of a snapshot, and whether a snapshot in progress covers another request: hosts whose triggers fire
// at the same time take one each (CoordinatedSnapshots).
#pragma once

#include <cstdint>
#include <optional>

namespace monitor::record {

// --flight: nothing is written until a snapshot is wanted. The size of the rings is Options::buffer_bytes.
struct FlightOptions {
	std::optional<std::uint64_t> before_ns; // how far back a snapshot goes; none: all of the rings
	unsigned snapshots = 0;                 // end after this number; 0: never
};

struct SnapshotWindow {
	// A request this soon after a snapshot's end is still covered.
	static constexpr std::uint64_t tolerated_ns = 200'000'000;

	std::uint64_t asked_ns = 0;             // by the monotonic clock
	std::optional<std::uint64_t> before_ns; // none: all of the rings
	std::uint64_t after_ns = 0;

	bool covers(const SnapshotWindow &other) const
	{
		const bool ends_in_time = other.asked_ns + other.after_ns <= asked_ns + after_ns + tolerated_ns;
		if (!before_ns || !ends_in_time)
			return ends_in_time;
		// Sums instead of differences, which could be negative.
		return other.before_ns && other.asked_ns + *before_ns >= asked_ns + *other.before_ns;
	}
};

} // namespace monitor::record
