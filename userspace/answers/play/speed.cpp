// SPDX-License-Identifier: MIT
#include "speed.h"

#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/escape.h"

namespace monitor::play {
namespace {

constexpr std::uint64_t max_times = 1000, max_parts = 10'000'000;

// The next of the numbers 1, 2, 5, 10, 20 ... above or below this one.
std::uint64_t next_above(std::uint64_t number)
{
	for (std::uint64_t power = 1;; power *= 10)
		for (const std::uint64_t digit : {1, 2, 5})
			if (digit * power > number)
				return digit * power;
}

std::uint64_t next_below(std::uint64_t number)
{
	std::uint64_t below = 1;
	for (std::uint64_t next = 1; next < number; next = next_above(next))
		below = next;
	return below;
}

// 0: not a number up to `max`.
std::uint64_t number_of(std::string_view text, std::uint64_t max)
{
	std::uint64_t number = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	return error == std::errc() && end == text.data() + text.size() && number <= max ? number : 0;
}

} // namespace

Speed Speed::parse(const std::string &text)
{
	const std::string_view all = text;
	const std::uint64_t times = all.starts_with("1/") ? 1 : number_of(all, max_times);
	const std::uint64_t parts = all.starts_with("1/") ? number_of(all.substr(2), max_parts) : 1;
	if (times == 0 || parts == 0)
		throw Error("--speed: '{}' is not a speed from 1/{} to {}, such as 1/100: a hundredth of a second of "
			    "the trace in each second",
			    printable(text), max_parts, max_times);
	return {times, parts};
}

Speed Speed::faster() const
{
	if (parts_ > 1)
		return {1, next_below(parts_)};
	return next_above(times_) > max_times ? *this : Speed(next_above(times_), 1);
}

Speed Speed::slower() const
{
	if (times_ > 1)
		return {next_below(times_), 1};
	return next_above(parts_) > max_parts ? *this : Speed(1, next_above(parts_));
}

std::string Speed::text() const
{
	return parts_ > 1 ? fmt::format("1/{}", parts_) : fmt::format("{}", times_);
}

} // namespace monitor::play
