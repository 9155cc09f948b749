// SPDX-License-Identifier: MIT
// The functions of record --functions (`functions`), and what --budget left out.
#pragma once

#include "fields.h"

namespace monitor::recording_file {

struct RecordedFunction {
	std::string name, path;
	std::uint64_t offset = 0, exits = 0;
	std::string method; // uprobe, patch

	bool is_patched() const { return method == "patch"; } // in the command's processes, not probed by the kernel

	void fields(auto &v) { v("name", name, "path", path, "offset", offset, "exits", exits, "method", method); }
};

// A function that matches a pattern, but cannot be recorded.
struct UnrecordedFunction {
	std::string name, why_not;

	void fields(auto &v) { v("name", name, "why_not", why_not); }
};

struct FunctionLeftOut {
	std::uint64_t function = 0; // number
	std::uint64_t time = 0;     // of the trace: events may be missing from then on
	double seconds = 0;         // length of the interval before `time`, in which:
	std::uint64_t events = 0;
	double percent = 0; // of the CPU time used
	std::string name{};
	double event_ns = 0; // what one event costs

	void fields(auto &v)
	{
		v("function", function, "name", name, "time", time, "seconds", seconds, "events", events, "event_ns",
		  event_ns, "percent", percent);
	}
};

struct FunctionBudget {
	std::optional<double> percent;
	std::vector<FunctionLeftOut> left_out;

	void fields(auto &v) { v("percent", percent, "left_out", left_out); }
};

struct Functions {
	std::vector<RecordedFunction> chosen; // by number
	std::vector<UnrecordedFunction> left_out;
	FunctionBudget budget;

	void fields(auto &v) { v.if_set("chosen", chosen, "left_out", left_out, "budget", budget); }
};

} // namespace monitor::recording_file
