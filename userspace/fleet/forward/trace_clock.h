// SPDX-License-Identifier: MIT
// The clock of a trace, as its metadata describes it: ticks to real time and back. It locates the blocks of a time
// window.
//
// Only the recorder's own text is understood, which is all that a spool has. Clock steps since the recording's start
// are not known here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace monitor::fleet {

struct TraceClock {
	std::uint64_t frequency_hz = 0, offset = 0; // offset: ticks, added to offset_s
	std::int64_t offset_s = 0;                  // of tick 0, since 1970

	// Before tick 0: 0; later than any: the largest.
	std::uint64_t ticks_of(std::uint64_t real_ns) const;
	// Before 1970: 0.
	std::uint64_t real_ns_of(std::uint64_t ticks) const;

	static std::optional<TraceClock> parse(const std::string &untrusted_metadata);
};

} // namespace monitor::fleet
