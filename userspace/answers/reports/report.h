// SPDX-License-Identifier: MIT
// The reports of `monitor report`: each is an object that knows its name, what its rows may be, which recordings it is
// of, and the answer to a question about a trace.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "answers/plot/from_table.h"
#include "answers/plot/text.h"
#include "answers/selection/selection.h"
#include "reading/events/trace.h"

namespace monitor::reports {

struct Question;

// For standard output, and what is drawn beside it.
struct Answer {
	std::string text;
	std::string head; // of CSV: before the text, unless the answer before had the same
	std::vector<plot::Chart> charts;
	std::string notes; // below these
};

struct Report {
	const char *name;
	const char *line;            // of `help`
	std::vector<std::string> by; // its groupings, the default first; none: it has rows of its own
	bool in_statistics; // a recording of statistics has what it is made of, or it says itself what it lacks
	Answer (*answer)(const Question &question, trace::Trace &trace); // throws Error
	bool of_programs = false;                                        // of their own events alone
	bool of_all = false; // traces together, which are read as one, on one clock
	bool of_one = false; // recording: of several there is no answer
};

// What is asked, as the options say it.
struct Question {
	const Report *report = nullptr;
	std::string by, sort, every, key, call, activity;
	std::string output; // of a flame graph
	std::vector<std::string> debug_directories;
	selection::Selection selection;
	plot::Wanted plot;
	bool json = false, csv = false, folded = false, lines = false, idle = false, by_is_chosen = false,
	     is_virtual = false, bounded = false, links = false;
	bool all = false;      // also what is not of the recorded command
	bool legend = false;   // what each column means, below the table
	std::size_t top = 0;   // rows; 0: as many as usual
	std::size_t width = 0; // of the terminal; 0: there is none
	plot::Look look;
	std::string trace; // one of several, which is named in the answer; "": the only one

	bool is_text() const { return !json && !csv; }
	// Of --by among what the report can be grouped by; an enumeration has that order.
	template <class By> By place() const
	{
		return static_cast<By>(std::ranges::find(report->by, by) - report->by.begin());
	}
	void sort_rows(report::Table &table) const;
	// Keeps the rows that are to be shown; in text without --top, the usual number. How many it hid.
	std::size_t keep_rows(report::Table &table) const;
	// A table as text, as wide as the terminal, and what belongs `below` it.
	std::string text_of(report::Table table, const std::string &below = "") const;
};

extern const Report cpu_report, syscalls_report, offcpu_report, activities_report, ratios_report, segments_report,
    samples_report, stacks_report, counts_report, triggers_report, requests_report, critical_path_report, help_report;
inline const std::vector<std::string> usual_groupings = {"process", "thread", "cpu", "command", "cgroup"};

// Of stacks: a page of flame graphs for a browser, of one trace or, compared, of two; the notes say how many they are,
// or why there are none.
Answer flame_graphs(const Question &question, std::vector<trace::Trace> &traces);

// In text the first column, of times, as times of day if the range was given by those.
void show_times(report::Table &table, const Question &question, const trace::Trace &trace);

// Sets the default of --by. Returns why the report cannot be asked this: one sentence, "" if it can. `all`: those that
// could be asked instead.
std::string why_unfit(Question &question, std::size_t traces, std::span<const Report *const> all);

} // namespace monitor::reports
