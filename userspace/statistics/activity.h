// SPDX-License-Identifier: MIT
// An activity as a table describes it: what starts it, what ends it, which end belongs to which start, and what
// distinguishes its rows. TRAMS's table-driven analysis, with FDL for its patterns.
//
// Parsed by table.h or from the command line, compiled for a trace's description here; run by ActivityFold
// (activity_fold.h). Const once made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "filter/filter.h"
#include "keys.h"

namespace monitor::statistics {

// As written.
struct ActivityText {
	std::string name;
	std::string start, end; // FDL
	std::string key;        // "tid", or "pid = next_pid": of the start, of the end
	std::string by;         // "process, id, end.ret"
	bool nested = false;    // several may be open with one key: an end belongs to the last of them
	std::string where;      // for messages: the file and line, or the option
};

// Compiled for one trace.
struct Activity {
	std::string name;
	std::unique_ptr<const filter::Filter> start, end;
	Keys start_key, end_key;
	Keys start_by, end_by;            // parts of the row
	std::vector<std::string> columns; // what the rows' cells are, in order
	bool nested = false;
	bool needs_threads = false;
	bool needs_names = false; // of threads, in a pattern
};

// Throws Error naming `where`.
Activity compile(const ActivityText &text, const trace::Description &description, std::uint64_t begin_time);

} // namespace monitor::statistics
