// SPDX-License-Identifier: MIT
#include "time_text.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <optional>

#include "base/error.h"

namespace monitor::trace {
namespace {

constexpr std::int64_t day_s = 86400;

// "" or ".digits" in billionths of the unit; digits after the ninth are dropped.
std::optional<std::int64_t> fraction_e9(const char *text)
{
	if (*text == '\0')
		return 0;
	if (*text++ != '.' || *text == '\0')
		return std::nullopt;
	std::int64_t billionths = 0, unit = 100'000'000;
	for (; *text; ++text, unit /= 10) {
		if (*text < '0' || *text > '9')
			return std::nullopt;
		billionths += (*text - '0') * unit;
	}
	return billionths;
}

// NUMBER[.FRACTION][UNIT], a duration; in seconds if there is no unit. Empty from 292 years on.
std::optional<std::int64_t> since_begin_ns(const std::string &text)
{
	struct Unit {
		const char *name;
		std::int64_t ns;
	};
	constexpr Unit units[] = {{"", second_ns}, {"s", second_ns}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};
	const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
	const std::size_t unit_at = std::min(text.find_first_not_of("0123456789."), text.size());
	const std::string written = text.substr(unit_at);
	const auto *unit = std::ranges::find_if(units, [&](const auto &each) { return written == each.name; });
	const auto fraction = fraction_e9(text.substr(digits, unit_at - digits).c_str());
	if (digits == 0 || !fraction || unit == std::end(units))
		return std::nullopt;
	std::int64_t number = 0;
	for (std::size_t i = 0; i < digits; ++i)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, text[i] - '0', &number))
			return std::nullopt;
	if (__builtin_mul_overflow(number, unit->ns, &number) ||
	    __builtin_add_overflow(number, *fraction / (second_ns / unit->ns), &number))
		return std::nullopt;
	return number;
}

std::optional<std::int64_t> parse_wall_ns(const char *text, const Span &span)
{
	const Clock &clock = span.clock;
	const std::int64_t begin_ns = clock.wall_ns(span.begin_time), end_ns = clock.wall_ns(span.end_time);
	const std::time_t begin_s = begin_ns / second_ns;
	std::tm local{};
	const char *rest = nullptr;
	bool dated = false;
	for (const char *format : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%H:%M:%S", "%H:%M"}) {
		if (rest)
			break;
		dated = *(format + 1) == 'Y';
		local = {};
		if (!dated)
			::localtime_r(&begin_s, &local);
		local.tm_sec = 0;
		rest = ::strptime(text, format, &local);
	}
	const auto fraction = rest ? fraction_e9(rest) : std::nullopt;
	if (!fraction)
		return std::nullopt;
	local.tm_isdst = -1;
	std::tm next_day = local;
	const std::tm written = local;
	std::int64_t ns = 0;
	if (__builtin_mul_overflow(static_cast<std::int64_t>(::mktime(&local)), second_ns, &ns) ||
	    __builtin_add_overflow(ns, *fraction, &ns) || ns >= std::numeric_limits<std::int64_t>::max() - 1 ||
	    local.tm_mday != written.tm_mday) // there is no 30 February
		return std::nullopt;
	++next_day.tm_mday;
	const std::int64_t next_ns = static_cast<std::int64_t>(::mktime(&next_day)) * second_ns + *fraction;
	if (!dated && ns < begin_ns && end_ns - begin_ns < day_s * second_ns && next_ns <= end_ns)
		ns = next_ns;
	return ns;
}

} // namespace

std::uint64_t parse_time(const std::string &text, const char *option, const Span &span, bool last)
{
	const Clock &clock = span.clock;
	if (const auto ns = since_begin_ns(text)) {
		const std::uint64_t ticks = last ? clock.to_ticks(static_cast<std::uint64_t>(*ns) + 1) - 1
						 : clock.to_ticks(static_cast<std::uint64_t>(*ns));
		return ticks > std::numeric_limits<std::uint64_t>::max() - span.begin_time
			   ? std::numeric_limits<std::uint64_t>::max()
			   : span.begin_time + ticks;
	}
	if (const auto ns = parse_wall_ns(text.c_str(), span)) {
		const std::uint64_t after = clock.from_wall_ns(*ns + 1);
		return !last ? clock.from_wall_ns(*ns) : after - (after > 0 ? 1 : 0);
	}
	throw Error(std::string(option) + " " + text +
		    " is not a time, such as 1.5 or 1500ms from the start of the trace, HH:MM[:SS], or \"YYYY-MM-DD "
		    "HH:MM[:SS]\"");
}

TimeRange parse_range(const std::string &from, const std::string &to, const Trace &trace, const char *end_option)
{
	TimeRange range;
	if (!from.empty())
		range.from = parse_time(from, "--from", trace, false);
	if (!to.empty())
		range.to = parse_time(to, end_option, trace, true);
	if (range.from > range.to)
		throw Error("--from " + from + " is later than " + end_option + (" " + to));
	return range;
}

} // namespace monitor::trace
