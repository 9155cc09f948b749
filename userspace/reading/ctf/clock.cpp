// SPDX-License-Identifier: MIT
#include "clock.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace monitor::trace {
namespace {

using Wide = unsigned __int128;
using SignedWide = __int128;

constexpr std::size_t max_steps = 1000; // as many as the recorder writes: each time is compared with all

template <class Narrow, class W> Narrow saturate(W value)
{
	const W low = std::numeric_limits<Narrow>::min(), high = std::numeric_limits<Narrow>::max();
	return static_cast<Narrow>(std::clamp(value, low, high));
}

} // namespace

std::optional<std::vector<RealTimeStep>> parse_steps(std::string_view untrusted_text)
{
	std::vector<RealTimeStep> steps;
	const char *at = untrusted_text.data(), *const end = at + untrusted_text.size();
	while (at != end) {
		RealTimeStep step;
		auto [sign, error] = std::from_chars(at, end, step.time);
		if (error != std::errc() || sign == end || (*sign != '+' && *sign != '-'))
			return std::nullopt;
		const auto [after, error_of_ns] = std::from_chars(sign + (*sign == '+' ? 1 : 0), end, step.ns);
		if (error_of_ns != std::errc() || (after != end && *after != ' ') || after + 1 == end ||
		    (!steps.empty() && step.time <= steps.back().time) || steps.size() == max_steps)
			return std::nullopt;
		steps.push_back(step);
		at = after == end ? end : after + 1;
	}
	return steps;
}

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

std::int64_t Clock::since_ns(std::uint64_t begin, std::uint64_t time) const
{
	constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
	if (time >= begin)
		return static_cast<std::int64_t>(std::min(to_ns(time - begin), max));
	const Wide ns = (Wide(begin - time) * second_ns + frequency_hz - 1) / frequency_hz;
	return -static_cast<std::int64_t>(std::min<Wide>(ns, max));
}

std::uint64_t Clock::from_since_ns(std::uint64_t begin, std::int64_t since_ns) const
{
	if (since_ns < 0) {
		const Wide ticks = Wide(0 - static_cast<std::uint64_t>(since_ns)) * frequency_hz / second_ns;
		return begin - static_cast<std::uint64_t>(std::min<Wide>(ticks, begin));
	}
	const std::uint64_t ticks = to_ticks(static_cast<std::uint64_t>(since_ns));
	return begin + std::min(ticks, std::numeric_limits<std::uint64_t>::max() - begin);
}

std::int64_t Clock::wall_ns_without_steps(std::uint64_t time) const
{
	const auto ns = static_cast<SignedWide>((Wide(time) + offset) * second_ns / frequency_hz);
	return saturate<std::int64_t>(SignedWide(offset_s) * SignedWide(second_ns) + ns);
}

std::uint64_t Clock::from_wall_ns_without_steps(std::int64_t wall_ns) const
{
	const SignedWide ns = SignedWide(wall_ns) - SignedWide(offset_s) * SignedWide(second_ns);
	if (ns <= 0)
		return 0;
	const SignedWide limit = SignedWide(std::numeric_limits<std::int64_t>::max());
	const Wide ticks = (Wide(std::min(ns, limit)) * frequency_hz + second_ns - 1) / second_ns;
	return ticks <= offset ? 0 : saturate<std::uint64_t>(ticks - offset);
}

std::int64_t Clock::wall_ns(std::uint64_t time) const
{
	SignedWide ns = wall_ns_without_steps(time);
	for (auto step = steps.rbegin(); step != steps.rend() && step->time > time; ++step)
		ns -= step->ns;
	return saturate<std::int64_t>(ns);
}

std::uint64_t Clock::from_wall_ns(std::int64_t wall_ns) const
{
	SignedWide later = 0; // by how much all later steps move it
	for (const RealTimeStep &step : steps)
		later += step.ns;
	std::uint64_t begin = 0;
	for (const RealTimeStep &step : steps) {
		const auto as_at_the_end = saturate<std::int64_t>(SignedWide(wall_ns) + later);
		const std::uint64_t time = std::max(begin, from_wall_ns_without_steps(as_at_the_end));
		if (time < step.time)
			return time;
		begin = step.time;
		later -= step.ns;
	}
	return std::max(begin, from_wall_ns_without_steps(wall_ns));
}

} // namespace monitor::trace
