// SPDX-License-Identifier: MIT
// Points in time of a trace as text: parsed from the user's input, and printed in answers.
// Seconds count from the start of the trace (Trace::begin_time()), and are negative before it. Local time is that of
// the reading machine, unless the text has an offset from UTC. A time of day without a date is the first one not before
// the start of the trace (for an end, not before the start of its range) if the trace still runs then, else that of the
// day on which the trace started. Where clocks showed a time twice, as when summer time ends, it is the moment that was
// recorded.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "merge.h"
#include "trace.h"

namespace monitor::trace {

// A local time is ambiguous: clocks showed it twice, and both moments were recorded.
struct TwiceShown : Error {
	using Error::Error;
};

// The clock and the time span of a trace.
struct Span {
	const Clock &clock;
	std::uint64_t begin_time, end_time;
};

inline Span span_of(const Trace &trace)
{
	return {trace.description().clock, trace.begin_time(), trace.end_time()};
}

// Parses [-]NUMBER[.FRACTION] with the unit s, ms, us or ns, or none for seconds, from the start of the trace;
// HH:MM[:SS[.FRACTION]] or "YYYY-MM-DD HH:MM[:SS[.FRACTION]]" in local time, or with +HH:MM at that offset. Returns the
// first tick of that nanosecond; with `last`, the last one. Throws Error naming `option` if it is none of these, or if
// it is ambiguous.
std::uint64_t parse_time(const std::string &text, const char *option, const Span &span, bool last);

inline std::uint64_t parse_time(const std::string &text, const char *option, const Trace &trace, bool last)
{
	return parse_time(text, option, span_of(trace), last);
}

// Whether the text would be parsed as a time of day, not as seconds from the start.
bool is_time_of_day(const std::string &text);

// Parses both ends, each "" if absent; messages name the options.
TimeRange parse_bounds(const std::string &from, const std::string &to, const Span &span, const char *from_option,
		       const char *end_option);

// The range of --from and --to, each "" if absent; `end_option` is the name of the latter in this command. Throws
// Error, also if the range is empty.
TimeRange parse_range(const std::string &from, const std::string &to, const Trace &trace,
		      const char *end_option = "--to");

// HH:MM:SS, with the date if the trace covers several days: a format of local_date().
const char *time_of_day_format(const Trace &trace);

// How times are printed, with all nanoseconds: in seconds since the start of the trace, or as times of day.
class TimeText {
public:
	TimeText() = default;
	TimeText(const Trace &trace, bool is_time_of_day)
	    : clock_(&trace.description().clock), begin_(trace.begin_time()),
	      format_(is_time_of_day ? time_of_day_format(trace) : nullptr)
	{
	}

	std::string operator()(std::uint64_t time) const;
	const char *unit() const { return format_ ? "" : " s"; } // printed after a time

private:
	const Clock *clock_ = nullptr;
	std::uint64_t begin_ = 0;
	const char *format_ = nullptr; // of local_date(); nullptr: seconds
};

} // namespace monitor::trace
