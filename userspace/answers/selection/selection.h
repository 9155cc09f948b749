// SPDX-License-Identifier: MIT
// The selection of a reading command, from its options, with the same meaning in all commands; see monitor-list(1).
// Applied by reading/events/event_selection.h, thread_selection.h and reading/analyze/scope.h.
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
	const char *end_option = "--to"; // name of the option for `to`
	std::vector<std::uint32_t> cpus;
	ThreadSelection threads;
	std::optional<std::string> filter; // FDL

	bool is_all() const;
	// The options that select the same threads, and the same time, as words of a command.
	std::vector<std::string> thread_words() const;
	std::vector<std::string> time_words() const;
	// The range is given by times of day: answers then show these.
	bool is_by_clock() const { return trace::is_time_of_day(from) || trace::is_time_of_day(to); }
	trace::TimeText time_text(const trace::Trace &trace) const { return {trace, is_by_clock()}; }
	// Throws Error, also if none of it is within `whole`, the available time.
	trace::TimeRange range(const trace::Trace &trace, const trace::TimeRange &whole) const;
	// The filter of --filter. Prints a warning about forms of events that lack a name in it, for which it is false.
	std::optional<filter::Filter> event_filter(const trace::Trace &trace) const;
	// May read the whole trace. Throws Error.
	trace::EventSelection events(const trace::Trace &trace) const;
	// For a fold of the states of threads. May read the whole trace. Throws Error, also if the range only touches
	// the recorded time.
	analyze::Scope scope(const trace::Trace &trace, const analyze::RecordingInfo &info) const;
};

// Prints a warning about forms of events that lack a name in the expression `of` an option, for which it is false.
void print_left_out(const filter::Filter &filter, const trace::Description &description, const std::string &of);
// Prints a warning that results depended on unknown derived values.
void print_undecided(const filter::Filter &filter, const std::string &of = "--filter");

// The names of events that match the patterns. Throws Error if a pattern matches none.
std::vector<std::string> event_names(const std::vector<std::string> &patterns, const trace::Description &description);

} // namespace monitor::selection
