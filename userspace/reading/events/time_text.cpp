// SPDX-License-Identifier: MIT
#include "time_text.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <optional>
#include <vector>

#include "base/date_text.h"
#include "base/seconds_text.h"

namespace monitor::trace {
namespace {

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

// [-]NUMBER[.FRACTION][UNIT]; without a unit, seconds. nullopt: another form, or 292 years and more.
std::optional<std::int64_t> since_begin_ns(const std::string &text)
{
	if (text.starts_with('-')) {
		const auto size = text.starts_with("--") ? std::nullopt : since_begin_ns(text.substr(1));
		return size ? std::optional(-*size) : std::nullopt;
	}
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

// A local time, as the user wrote it.
struct Written {
	std::tm parts{}; // for a time of day, only its time fields
	std::int64_t fraction_ns = 0;
	bool is_dated = false;
	std::optional<std::int64_t> offset_s; // from UTC; none: this machine's local time
};

// "Z", "+HH:MM" or "+HHMM" after a time.
std::optional<std::int64_t> read_offset(const char *text)
{
	std::tm parts{};
	const char *const rest = ::strptime(text, "%z", &parts);
	return rest && *rest == '\0' ? std::optional<std::int64_t>(parts.tm_gmtoff) : std::nullopt;
}

std::optional<Written> read_written(const std::string &text)
{
	Written written;
	const std::size_t offset_at = text.find_first_of("+-Z", std::min(text.find(':'), text.size()));
	if (offset_at != std::string::npos && !(written.offset_s = read_offset(text.c_str() + offset_at)))
		return std::nullopt;
	std::string local = text.substr(0, offset_at);
	local.erase(local.find_last_not_of(' ') + 1);
	for (const char *format : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%H:%M:%S", "%H:%M"}) {
		written.parts = {};
		written.is_dated = *(format + 1) == 'Y';
		if (const char *const rest = ::strptime(local.c_str(), format, &written.parts)) {
			const auto fraction = fraction_e9(rest);
			written.fraction_ns = fraction.value_or(0);
			return fraction ? std::optional(written) : std::nullopt;
		}
	}
	return std::nullopt;
}

bool is_same_time(const std::tm &a, const std::tm &b)
{
	return a.tm_mday == b.tm_mday && a.tm_hour == b.tm_hour && a.tm_min == b.tm_min;
}

// The moments of a local date and time, in order: two if clocks were set back in between. If they were set forward past
// it, the one that mktime() returns. Empty: there is no such day, or ns since 1970 overflow.
std::vector<std::int64_t> moments(const Written &written)
{
	std::vector<std::time_t> found;
	const auto add = [&](std::time_t moment) {
		if (std::ranges::find(found, moment) == found.end())
			found.push_back(moment);
	};
	for (const int is_summer : {1, 0}) {
		std::tm tried = written.parts, shown{};
		tried.tm_isdst = is_summer;
		const std::time_t moment = ::mktime(&tried);
		if (!written.offset_s && ::localtime_r(&moment, &shown) && is_same_time(shown, written.parts))
			add(moment);
	}
	if (found.empty()) {
		std::tm tried = written.parts;
		tried.tm_isdst = -1;
		add(written.offset_s ? ::timegm(&tried) - *written.offset_s : ::mktime(&tried));
		if (tried.tm_mday != written.parts.tm_mday)
			return {};
	}
	std::vector<std::int64_t> made;
	for (const std::time_t moment : found) {
		std::int64_t ns = 0;
		if (!__builtin_mul_overflow(static_cast<std::int64_t>(moment), second_ns, &ns) &&
		    !__builtin_add_overflow(ns, written.fraction_ns, &ns) &&
		    ns < std::numeric_limits<std::int64_t>::max() - 1)
			made.push_back(ns);
	}
	std::ranges::sort(made);
	return made;
}

// The moments of a time of day on one day: that of `day_of_ns`, or `days_later` days after it.
std::vector<std::int64_t> moments_on(Written written, std::int64_t day_of_ns, int days_later)
{
	const std::time_t moment = day_of_ns / second_ns + written.offset_s.value_or(0);
	std::tm day{};
	if (!(written.offset_s ? ::gmtime_r(&moment, &day) : ::localtime_r(&moment, &day)))
		return {};
	day.tm_mday += days_later;
	::timegm(&day); // normalizes the day of the month
	written.parts.tm_year = day.tm_year;
	written.parts.tm_mon = day.tm_mon;
	written.parts.tm_mday = day.tm_mday;
	return moments(written);
}

std::string offset_text(std::int64_t moment_ns)
{
	return local_date(moment_ns / second_ns, "%z");
}

// A time of day: the first one at or after `earliest_ns` if the recording still runs then, else the one on the day of
// the recording's start. nullopt: the text is no local time.
std::optional<std::int64_t> parse_wall_ns(const std::string &text, const char *option, const Span &span,
					  std::int64_t earliest_ns)
{
	const std::int64_t begin_ns = span.clock.wall_ns(span.begin_time), end_ns = span.clock.wall_ns(span.end_time);
	const auto written = read_written(text);
	if (!written)
		return std::nullopt;
	const auto is_recorded = [&](std::int64_t ns) { return ns >= std::max(begin_ns, earliest_ns) && ns <= end_ns; };
	std::vector<std::int64_t> all = written->is_dated ? moments(*written) : std::vector<std::int64_t>();
	constexpr int days = 3; // one day may lack the time
	for (int later = 0; !written->is_dated && later < days && std::ranges::none_of(all, is_recorded); ++later)
		all = moments_on(*written, std::max(begin_ns, earliest_ns), later);
	if (!written->is_dated && std::ranges::none_of(all, is_recorded))
		all = moments_on(*written, begin_ns, 0);
	const auto first = std::ranges::find_if(all, is_recorded);
	if (all.size() > 1 && std::ranges::all_of(all, is_recorded))
		throw TwiceShown(std::string(option) + " " + text + ": clocks showed this time twice: write " + text +
				 offset_text(all[0]) + " or " + text + offset_text(all[1]));
	if (all.empty())
		return std::nullopt;
	return first != all.end() ? *first : all.front();
}

std::uint64_t parse_time_after(const std::string &text, const char *option, const Span &span, bool last,
			       std::int64_t earliest_ns)
{
	const Clock &clock = span.clock;
	if (const auto ns = since_begin_ns(text)) {
		constexpr auto max_time = std::numeric_limits<std::uint64_t>::max();
		if (!last || *ns == std::numeric_limits<std::int64_t>::max())
			return clock.from_since_ns(span.begin_time, *ns);
		const std::uint64_t after = clock.from_since_ns(span.begin_time, *ns + 1);
		return after - (after > 0 && after < max_time ? 1 : 0);
	}
	if (const auto ns = parse_wall_ns(text, option, span, earliest_ns)) {
		const std::uint64_t after = clock.from_wall_ns(*ns + 1);
		return !last ? clock.from_wall_ns(*ns) : after - (after > 0 ? 1 : 0);
	}
	throw Error(std::string(option) + " " + text +
		    " is not a time, such as 1.5 or 1500ms from the start of the trace, HH:MM[:SS], or \"YYYY-MM-DD "
		    "HH:MM[:SS]\"");
}

} // namespace

bool is_time_of_day(const std::string &text)
{
	return !text.empty() && !since_begin_ns(text);
}

std::uint64_t parse_time(const std::string &text, const char *option, const Span &span, bool last)
{
	return parse_time_after(text, option, span, last, std::numeric_limits<std::int64_t>::min());
}

TimeRange parse_bounds(const std::string &from, const std::string &to, const Span &span, const char *from_option,
		       const char *end_option)
{
	TimeRange range;
	if (!from.empty())
		range.from = parse_time(from, from_option, span, false);
	const std::int64_t earliest_ns =
	    from.empty() ? std::numeric_limits<std::int64_t>::min() : span.clock.wall_ns(range.from);
	if (!to.empty())
		range.to = parse_time_after(to, end_option, span, true, earliest_ns);
	return range;
}

TimeRange parse_range(const std::string &from, const std::string &to, const Trace &trace, const char *end_option)
{
	const TimeRange range = parse_bounds(from, to, span_of(trace), "--from", end_option);
	if (range.from > range.to)
		throw Error("--from " + from + " is later than " + end_option + (" " + to));
	return range;
}

const char *time_of_day_format(const Trace &trace)
{
	const auto day_of = [&](std::uint64_t time) {
		return local_date(trace.description().clock.wall_ns(time) / second_ns, "%F");
	};
	return day_of(trace.first_time()) == day_of(trace.end_time()) ? "%T" : "%F %T";
}

std::string TimeText::operator()(std::uint64_t time) const
{
	if (!format_)
		return seconds_text(clock_->since_ns(begin_, time));
	const std::int64_t ns = clock_->wall_ns(time), below = (ns % second_ns + second_ns) % second_ns;
	return fmt::format("{}.{:09}", local_date((ns - below) / second_ns, format_), below);
}

} // namespace monitor::trace
