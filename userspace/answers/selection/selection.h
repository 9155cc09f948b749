// SPDX-License-Identifier: MIT
// What a reader restricts itself to, as options say it, with one meaning in every reading command; monitor-list(1)
// describes them. What they mean is in reading/events/event_selection.h, thread_selection.h and
// reading/analyze/scope.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reading/analyze/recording_info.h"
#include "reading/analyze/scope.h"
#include "reading/events/event_selection.h"
#include "reading/events/merge.h"
#include "reading/events/time_text.h"
#include "reading/events/trace.h"
#include "reading/filter/filter.h"
#include "thread_selection.h"

namespace monitor::selection {

struct Selection {
	std::string from, to;
	const char *end_option = "--to"; // of the command line, for `to`
	std::vector<std::uint32_t> cpus;
	ThreadSelection threads;
	std::optional<std::string> filter; // FDL

	bool is_all() const;
	// The range is given by times of day: then answers show them.
	bool is_by_clock() const { return trace::is_time_of_day(from) || trace::is_time_of_day(to); }
	trace::TimeText time_text(const trace::Trace &trace) const { return {trace, is_by_clock()}; }
	// Throws Error, also if none of it is within `whole`, the time that there is.
	trace::TimeRange range(const trace::Trace &trace, const trace::TimeRange &whole) const;
	// Of --filter. Says which forms of an event lack a name in it, so that it is not true for them.
	std::optional<filter::Filter> event_filter(const trace::Trace &trace) const;
	// May read the whole trace. Throws Error.
	trace::EventSelection events(const trace::Trace &trace) const;
	// For a fold of the states of threads. May read the whole trace. Throws Error, also if the range only touches
	// the recorded time.
	analyze::Scope scope(const trace::Trace &trace, const analyze::RecordingInfo &info) const;
};

// Says which forms of an event lack a name in an expression, `of` an option, so that it is not true for them.
void tell_left_out(const filter::Filter &filter, const trace::Description &description, const std::string &of);
// Says that some results depended on what no earlier event says.
void tell_undecided(const filter::Filter &filter, const std::string &of = "--filter");

// The names of events that match these patterns. Throws Error if one matches none.
std::vector<std::string> event_names(const std::vector<std::string> &patterns, const trace::Description &description);

} // namespace monitor::selection
