// SPDX-License-Identifier: MIT
// An activity as a table describes it: what starts it, what ends it, which end belongs to which start, and what
// distinguishes its rows. TRAMS's table-driven analysis, with FDL for its patterns.
//
// Parsed by table.h or from the command line. Two kinds: events that start and end it, compiled for a trace's
// description here and run by Pairs (pairs.h); or a state of threads that the fold of the kernel's events finds
// (tracker.h), whose rows are Totals (totals.h). Const once made.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keys.h"
#include "reading/filter/filter.h"

namespace monitor::activities {

// The definition as written.
struct DefinitionText {
	std::string name;
	std::string start, end; // FDL; empty for a state
	std::string state;      // "system_call" or "blocked"; empty for events
	std::string key;        // "tid", or "pid = next_pid": of the start, of the end
	std::string by;         // "process, id, end.ret"
	bool nested = false;    // several may be open with one key: an end belongs to the last of them
	std::string where;      // for messages: the file and line, or the option
	std::string pair = {};  // instead of start, end and key: "A then B within T per KEY"
};

// The definition compiled for one trace.
struct Definition {
	std::string name;
	std::unique_ptr<const filter::Filter> start, end;
	Keys start_key, end_key;
	Keys start_by, end_by;            // parts of the row
	std::vector<std::string> columns; // what the rows' cells are, in order
	bool nested = false;
	std::optional<std::uint64_t> within = {}; // an end is at most this many ticks later
	bool needs_threads = false;
	bool needs_names = false; // of threads while reading, or other state from earlier events
};

// Throws Error naming `where`.
std::unique_ptr<const filter::Filter> pattern(const std::string &text, const std::string &where,
					      const trace::Description &description, std::uint64_t begin_time,
					      filter::Evaluator evaluator = filter::Evaluator::reader);
// Compiles a pair of events. Throws Error naming `where`.
Definition compile(const DefinitionText &text, const trace::Description &description, std::uint64_t begin_time,
		   filter::Evaluator evaluator = filter::Evaluator::reader);

} // namespace monitor::activities
