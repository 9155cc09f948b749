// SPDX-License-Identifier: MIT
// A trace's clock from its metadata: converts ticks to real time and back, to locate the blocks of a time window.
// Parses only the recorder's own text, as a spool has no other. Clock steps since the recording's start are not known
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace monitor::fleet {

struct TraceClock {
	std::uint64_t frequency_hz = 0, offset = 0; // offset: ticks, added to offset_s
	std::int64_t offset_s = 0;                  // of tick 0, since 1970

	// Saturates: 0 before tick 0.
	std::uint64_t ticks_of(std::uint64_t real_ns) const;
	// 0 before 1970.
	std::uint64_t real_ns_of(std::uint64_t ticks) const;

	static std::optional<TraceClock> parse(const std::string &untrusted_metadata);
};

} // namespace monitor::fleet
