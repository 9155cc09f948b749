// SPDX-License-Identifier: MIT
#include "host_clock.h"

#include <algorithm>
#include <limits>

namespace monitor::requests {
namespace {

constexpr std::uint64_t last_tick = std::numeric_limits<std::uint64_t>::max();

std::uint64_t wider(std::uint64_t width)
{
	return width <= last_tick / 4 ? width * 4 : last_tick;
}

} // namespace

HostClock::HostClock(const trace::Stream &stream) : stream_(&stream)
{
	if (const trace::Clock *const own = stream.own_clock())
		clock_ = *own;
}

std::uint64_t HostClock::ticks(std::uint64_t time)
{
	std::uint64_t low = last_, high = last_, width = 1 << 16; // the tick is after low, and at most high
	if (stream_->time(last_) < time) {
		do {
			low = high;
			high += std::min(width, last_tick - high);
			width = wider(width);
		} while (high < last_tick && stream_->time(high) < time);
	} else {
		do {
			high = low;
			low -= std::min(width, low);
			width = wider(width);
		} while (low > 0 && stream_->time(low) >= time);
		if (low == 0 && stream_->time(0) >= time)
			return 0;
	}
	while (high - low > 1) {
		const std::uint64_t middle = low + (high - low) / 2;
		(stream_->time(middle) < time ? low : high) = middle;
	}
	return high;
}

std::uint64_t HostClock::ns(std::uint64_t time)
{
	last_ = stream_->maps_time() ? ticks(time) : time;
	return clock_.to_ns(last_);
}

} // namespace monitor::requests
