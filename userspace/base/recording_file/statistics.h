// SPDX-License-Identifier: MIT
// Recordings of periods (`statistics`), and the earlier ones in the same directory (`lives`); run lengths of states
// (`states`).
#pragma once

#include "clocks.h"

namespace monitor::recording_file {

struct StatisticsInfo {
	std::uint64_t period_ns = 0;
	std::uint64_t keep_ns = 0; // older periods were removed; 0: none
	bool counts_only = false;  // the numbers of events, by class
	std::optional<std::uint64_t> hidden_threads{};
	// How long after the end of a period its counts were read, and how long that took, at most.
	std::optional<std::uint64_t> max_late_ns{}, max_width_ns{};

	void fields(auto &v)
	{
		v("period_ns", period_ns, "keep_ns", keep_ns);
		v.if_set("counts_only", counts_only);
		v("hidden_threads", hidden_threads, "max_late_ns", max_late_ns, "max_width_ns", max_width_ns);
	}
};

// What was recorded: of all processes or of some (-p), and by record --filter.
struct RecordedFilter {
	std::vector<std::int64_t> pids;
	bool command = false;
	std::string expression;                      // "": none
	std::vector<std::string> always, part, none; // names of classes of which it keeps all events, some, none

	void fields(auto &v)
	{
		v("pids", pids, "command", command);
		if (!v.reads && expression.empty())
			return;
		v("expression", expression, "always", always, "part", part, "none", none);
	}
};

// One of several recordings into the same trace.
struct Life {
	std::string date, state, end_reason, boot_id, kernel;
	std::optional<RecordedFilter> filter;
	Moment start, end; // no end: it was killed

	void fields(auto &v)
	{
		v.if_set("date", date, "state", state, "end_reason", end_reason, "boot_id", boot_id, "kernel", kernel);
		v("filter", filter);
		v.if_set("start", start, "end", end);
	}
};

struct RecordedStates {
	std::string name, tree;             // of the tree's file, and its text
	std::vector<std::uint32_t> cpus;    // online at the start
	std::uint64_t begin = 0;            // the time that the run lengths cover
	std::optional<std::uint64_t> end{}; // none: the recording was not completed
	std::uint64_t late = 0;             // events that arrived too late to be processed in order

	void fields(auto &v)
	{
		v("name", name, "tree", tree, "cpus", cpus, "begin", begin, "end", end);
		if (v.reads || end)
			v("late", late);
	}
};

} // namespace monitor::recording_file
