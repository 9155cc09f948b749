// SPDX-License-Identifier: MIT
#include "speed.h"

#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/escape.h"

namespace monitor::play {
namespace {

constexpr std::uint64_t max_numerator = 1000, max_denominator = 10'000'000;

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
std::uint64_t parse_number(std::string_view text, std::uint64_t max)
{
	std::uint64_t number = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	return error == std::errc() && end == text.data() + text.size() && number <= max ? number : 0;
}

} // namespace

Speed Speed::parse(const std::string &text)
{
	const std::string_view all = text;
	const std::uint64_t numerator = all.starts_with("1/") ? 1 : parse_number(all, max_numerator);
	const std::uint64_t denominator = all.starts_with("1/") ? parse_number(all.substr(2), max_denominator) : 1;
	if (numerator == 0 || denominator == 0)
		throw Error("--speed: '{}' is not a speed from 1/{} to {}, such as 1/100: a hundredth of a second of "
			    "the trace in each second",
			    printable(text), max_denominator, max_numerator);
	return {numerator, denominator};
}

Speed Speed::faster() const
{
	if (denominator_ > 1)
		return {1, next_below(denominator_)};
	return next_above(numerator_) > max_numerator ? *this : Speed(next_above(numerator_), 1);
}

Speed Speed::slower() const
{
	if (numerator_ > 1)
		return {next_below(numerator_), 1};
	return next_above(denominator_) > max_denominator ? *this : Speed(1, next_above(denominator_));
}

std::string Speed::text() const
{
	return denominator_ > 1 ? fmt::format("1/{}", denominator_) : fmt::format("{}", numerator_);
}

} // namespace monitor::play
