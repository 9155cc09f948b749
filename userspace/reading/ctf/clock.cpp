// SPDX-License-Identifier: MIT
#include "clock.h"

#include <algorithm>
#include <limits>

namespace monitor::trace {
namespace {

using Wide = unsigned __int128;
using SignedWide = __int128;

template <class Narrow, class W> Narrow saturate(W value)
{
	const W low = std::numeric_limits<Narrow>::min(), high = std::numeric_limits<Narrow>::max();
	return static_cast<Narrow>(std::clamp(value, low, high));
}

} // namespace

void Clock::set_offset(std::int64_t ticks)
{
	const SignedWide frequency = frequency_hz;
	const SignedWide seconds = ticks < 0 ? (SignedWide(ticks) + 1) / frequency - 1 : 0;
	offset_s = saturate<std::int64_t>(SignedWide(offset_s) + seconds);
	offset = static_cast<std::uint64_t>(SignedWide(ticks) - seconds * frequency);
}

std::uint64_t Clock::to_ns(std::uint64_t ticks) const
{
	return saturate<std::uint64_t>(Wide(ticks) * second_ns / frequency_hz);
}

std::uint64_t Clock::to_ticks(std::uint64_t duration_ns) const
{
	return saturate<std::uint64_t>((Wide(duration_ns) * frequency_hz + second_ns - 1) / second_ns);
}

std::int64_t Clock::wall_ns(std::uint64_t time) const
{
	const auto ns = static_cast<SignedWide>((Wide(time) + offset) * second_ns / frequency_hz);
	return saturate<std::int64_t>(SignedWide(offset_s) * SignedWide(second_ns) + ns);
}

std::uint64_t Clock::from_wall_ns(std::int64_t wall_ns) const
{
	const SignedWide ns = SignedWide(wall_ns) - SignedWide(offset_s) * SignedWide(second_ns);
	if (ns <= 0)
		return 0;
	const SignedWide limit = SignedWide(std::numeric_limits<std::int64_t>::max());
	const Wide ticks = (Wide(std::min(ns, limit)) * frequency_hz + second_ns - 1) / second_ns;
	return ticks <= offset ? 0 : saturate<std::uint64_t>(ticks - offset);
}

} // namespace monitor::trace
