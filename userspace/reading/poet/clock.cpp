// SPDX-License-Identifier: MIT
// The public clock; its arithmetic is that of trace::Clock.
#include "poet/clock.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/date_text.h"
#include "core.h"
#include "reading/events/time_text.h"

namespace poet {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

monitor::trace::Clock internal(std::uint64_t frequency_hz, std::int64_t offset_s, std::uint64_t offset)
{
	monitor::trace::Clock made;
	made.frequency_hz = frequency_hz;
	made.offset_s = offset_s;
	made.offset = offset;
	return made;
}

// "", or "." and as many digits as the resolution has.
std::string fraction(std::uint64_t below_second_ns, Resolution resolution)
{
	char digits[16];
	std::snprintf(digits, sizeof digits, ".%09u", static_cast<unsigned>(below_second_ns % second_ns));
	const auto count = static_cast<std::size_t>(resolution);
	return count == 0 ? std::string() : std::string(digits, std::min<std::size_t>(count, 9) + 1);
}

} // namespace

Clock::Clock(std::string name, std::uint64_t frequency_hz, std::int64_t offset_s, std::uint64_t offset_ticks,
	     std::uint64_t begin, std::uint64_t end)
    : name_(std::move(name)), frequency_hz_(frequency_hz), offset_s_(offset_s), offset_(offset_ticks), begin_(begin),
      end_(end)
{
}

std::uint64_t Clock::to_ns(std::uint64_t duration_ticks) const
{
	return internal(frequency_hz_, offset_s_, offset_).to_ns(duration_ticks);
}

std::uint64_t Clock::to_ticks(std::uint64_t duration_ns) const
{
	return internal(frequency_hz_, offset_s_, offset_).to_ticks(duration_ns);
}

std::int64_t Clock::since_begin_ns(std::uint64_t time) const
{
	return internal(frequency_hz_, offset_s_, offset_).since_ns(begin_, time);
}

std::uint64_t Clock::from_begin_ns(std::int64_t since_begin_ns) const
{
	return internal(frequency_hz_, offset_s_, offset_).from_since_ns(begin_, since_begin_ns);
}

std::int64_t Clock::wall_ns(std::uint64_t time) const
{
	return internal(frequency_hz_, offset_s_, offset_).wall_ns(time);
}

std::uint64_t Clock::from_wall_ns(std::int64_t wall_ns) const
{
	return internal(frequency_hz_, offset_s_, offset_).from_wall_ns(wall_ns);
}

std::string Clock::text(std::uint64_t time, Resolution resolution) const
{
	const std::int64_t since_ns = since_begin_ns(time);
	const auto ns = static_cast<std::uint64_t>(std::abs(since_ns));
	return (since_ns < 0 ? "-" : "") + std::to_string(ns / second_ns) + fraction(ns % second_ns, resolution);
}

std::string Clock::wall_text(std::uint64_t time, Resolution resolution) const
{
	constexpr auto second = static_cast<std::int64_t>(second_ns);
	const std::int64_t ns = wall_ns(time);
	const std::int64_t below = ns % second < 0 ? ns % second + second : ns % second;
	return monitor::local_date((ns - below) / second, "%F %T") +
	       fraction(static_cast<std::uint64_t>(below), resolution);
}

std::uint64_t Clock::parse(const std::string &text) const
{
	const auto clock = internal(frequency_hz_, offset_s_, offset_);
	return detail::guarded([&] {
		return monitor::trace::parse_time(text, "the time", monitor::trace::Span{clock, begin_, end_}, false);
	});
}

} // namespace poet
