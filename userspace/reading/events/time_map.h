// SPDX-License-Identifier: MIT
// Converts ticks of one clock to ticks of another, so that streams with different clocks can be merged.
// Used if the common clock, which then counts nanoseconds, differs from the stream's. The relation is that of the
// clocks' descriptions, or the lines of a collection (clock_map.h). Invariant: order is kept, and equal ticks stay
// equal; results outside 64 bits saturate.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "clock_map.h"
#include "reading/ctf/clock.h"

namespace monitor::trace {

class TimeMap {
public:
	// `to` counts nanoseconds.
	TimeMap(const Clock &from, const Clock &to) : frequency_hz_(from.frequency_hz)
	{
		// The difference of the origins; seconds and ticks are converted separately.
		base_ns_ = (static_cast<__int128>(from.offset_s) - to.offset_s) * second_ns - to.offset;
		ticks_ = from.offset;
	}
	explicit TimeMap(std::shared_ptr<const ClockMap> lines) : lines_(std::move(lines)) {}

	std::uint64_t map(std::uint64_t ticks) const
	{
		if (lines_)
			return lines_->map(ticks);
		const unsigned __int128 all = static_cast<unsigned __int128>(ticks) + ticks_;
		const auto seconds = static_cast<std::uint64_t>(all / frequency_hz_);
		const auto rest = static_cast<std::uint64_t>(all % frequency_hz_);
		const __int128 ns =
		    base_ns_ + static_cast<__int128>(seconds) * second_ns +
		    static_cast<__int128>(static_cast<unsigned __int128>(rest) * second_ns / frequency_hz_);
		if (ns < 0)
			return 0;
		constexpr std::uint64_t latest = ~std::uint64_t(0);
		return ns > latest ? latest : static_cast<std::uint64_t>(ns);
	}

private:
	std::uint64_t frequency_hz_ = second_ns;
	std::uint64_t ticks_ = 0;
	__int128 base_ns_ = 0;
	std::shared_ptr<const ClockMap> lines_;
};

} // namespace monitor::trace
