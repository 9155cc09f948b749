// SPDX-License-Identifier: MIT
// The options that select a part of a trace, with one meaning in every reading command; monitor-list(1) describes them.
// What they mean is in reading/events/event_selection.h, answers/selection/thread_selection.h and
// reading/analyze/scope.h.
//
// A command adds them with add_selection(). One that cannot honour them refuses them by a sentence: refuse_selection().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "answers/selection/thread_selection.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/scope.h"
#include "reading/events/event_selection.h"
#include "reading/events/merge.h"
#include "reading/events/trace.h"
#include "reading/filter/filter.h"

namespace monitor {

struct Selection {
	std::string from, to;
	const char *end_option = "--to"; // of the command line, for `to`
	std::vector<std::uint32_t> cpus;
	selection::ThreadSelection threads;
	std::optional<std::string> filter; // FDL

	bool is_all() const;
	// Throws Error, also if none of it is within `whole`, the time that there is.
	trace::TimeRange range(const trace::Trace &trace, const trace::TimeRange &whole) const;
	// Of --filter. Says which forms of an event lack a name in it, so that it is not true for them.
	std::optional<filter::Filter> event_filter(const trace::Trace &trace) const;
	// May read the whole trace. Throws Error.
	trace::EventSelection events(const trace::Trace &trace) const;
	// For a fold of the states of threads. May read the whole trace. Throws Error.
	analyze::Scope scope(const trace::Trace &trace, const analyze::RecordingInfo &info) const;
};

// `what` the help says before each of them: "print only events of"; `of_threads` before those of threads, "": the same.
void add_selection(CLI::App &command, Selection &selection, const std::string &what,
		   const std::string &of_threads = "");
// Also --filter.
void add_event_filter(CLI::App &command, Selection &selection, const std::string &what);

// Says which forms of an event lack a name in an expression, `of` an option, so that it is not true for them.
void tell_left_out(const filter::Filter &filter, const trace::Description &description, const std::string &of);
// Says that some results depended on what no earlier event says.
void tell_undecided(const filter::Filter &filter, const std::string &of = "--filter");

// The names of events that match these patterns. Throws Error if one matches none.
std::vector<std::string> event_names(const std::vector<std::string> &patterns, const trace::Description &description);

// Refuses these options, which the help does not list, with a sentence.
inline constexpr const char *selecting_options[] = {"--from", "--to",   "--cpu",    "--pid",
						    "--tid",  "--comm", "--cgroup", "--command"};
void refuse_option(CLI::App &command, const char *option, const std::string &sentence);
void refuse_selection(CLI::App &command, const std::string &sentence);

} // namespace monitor
