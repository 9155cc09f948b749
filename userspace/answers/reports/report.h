// SPDX-License-Identifier: MIT
// The reports of `monitor report`: each is an object with its name, its groupings, the recordings that it applies to,
// and the function that answers a question about a trace.
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

// The text for standard output, and charts.
struct Answer {
	std::string text;
	std::string head; // for CSV: printed before the text, unless it repeats the previous answer's
	std::vector<plot::Chart> charts;
	std::string notes; // printed below the charts
};

struct Report {
	const char *name;
	const char *line;            // for `help`
	std::vector<std::string> by; // its groupings, the default first; empty: it has its own rows
	bool in_statistics;          // applies to record --statistics, too, perhaps with an error of its own
	Answer (*answer)(const Question &question, trace::Trace &trace); // throws Error
	bool of_programs = false;                                        // of programs' own events: needs no others
	bool of_all = false; // of all traces together, read as one on a common clock
	bool of_one = false; // of one recording: several have no answer
};

// The question, from the command line's options.
struct Question {
	const Report *report = nullptr;
	std::string by, sort, every, key, call, activity;
	std::string output; // file for a flame graph
	std::vector<std::string> debug_directories;
	selection::Selection selection;
	plot::Wanted plot;
	bool json = false, csv = false, folded = false, lines = false, idle = false, by_is_chosen = false,
	     is_virtual = false, bounded = false, links = false;
	bool all = false;      // also rows of other processes than the recorded command's
	bool legend = false;   // print each column's meaning below the table
	std::size_t top = 0;   // number of rows; 0: default
	std::size_t width = 0; // of the terminal; 0: not a terminal
	plot::Look look;
	std::string trace; // the name of one of several; "": the only one

	bool is_text() const { return !json && !csv; }
	// The index of --by among the report's groupings; an enumeration has the same order.
	template <class By> By grouping_index() const
	{
		return static_cast<By>(std::ranges::find(report->by, by) - report->by.begin());
	}
	void sort_rows(report::Table &table) const;
	// Keeps the rows to be shown; in text without --top, the default number. Returns the number of hidden rows.
	std::size_t keep_rows(report::Table &table) const;
	// A table as text, fitted to the terminal, followed by `below`.
	std::string text_of(report::Table table, const std::string &below = "") const;
};

extern const Report cpu_report, syscalls_report, offcpu_report, activities_report, ratios_report, segments_report,
    samples_report, stacks_report, counts_report, triggers_report, requests_report, critical_path_report, help_report;
inline const std::vector<std::string> usual_groupings = {"process", "thread", "cpu", "command", "cgroup"};

// For stacks: a web page of flame graphs, of one trace or a comparison of two; the notes say how many there are, or why
// none.
Answer flame_graphs(const Question &question, std::vector<trace::Trace> &traces);

// In text, prints the first column as times of day if the range was given so.
void show_times(report::Table &table, const Question &question, const trace::Trace &trace);

// Sets the default of --by. Returns why the report does not support the question, "" if it does. `all`: other reports
// to suggest.
std::string why_unfit(Question &question, std::size_t traces, std::span<const Report *const> all);

} // namespace monitor::reports
