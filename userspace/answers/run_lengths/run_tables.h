// SPDX-License-Identifier: MIT
// Run lengths as tables: a row per node of the tree, or per run.
#pragma once

#include <string>
#include <vector>

#include "answers/report/table.h"
#include "reading/activities/rows.h"
#include "reading/events/time_text.h"
#include "reading/states/matcher.h"
#include "run_list.h"
#include "totals.h"

namespace monitor::run_lengths {

// What the tables need besides the runs. In text a state is indented, in other formats it is a path.
struct Context {
	const states::Tree &tree;
	const std::vector<states::Who> &subjects;
	std::uint64_t window_ticks = 0; // sum of each subject's runs
	const trace::Clock &clock;
	std::uint64_t begin_time = 0; // of the trace
	trace::TimeText times{};      // in text
	report::Format format = report::Format::text;

	double ns(std::uint64_t ticks) const;
	// "2", "make-1234"; "" for the machine.
	std::string who(std::uint32_t subject) const;
};

// `per_subject`: separate totals for the subjects in `order`.
report::Table totals_table(const Totals &totals, const Context &context, bool per_subject,
			   const std::vector<std::size_t> &order);
// The same with all values, for report::histograms_text().
activities::Rows histograms(const Totals &totals, const Context &context, bool per_subject,
			    const std::vector<std::size_t> &order);

// The whole that shares refer to: "2 CPUs, 1.204 s each".
std::string summary(const Totals &totals, const Context &context);

// Matches of a pattern.
struct Match {
	std::uint32_t subject;
	std::size_t first, end; // indices of the subject's runs
};
struct Matches {
	std::vector<Match> all; // sorted by start
	activities::Distribution durations;
};
Matches matches_of(const RunList &list, const states::Automaton &automaton);
// The first `max_rows` matches.
report::Table matches_table(const Matches &matches, const RunList &list, const Context &context, std::size_t max_rows);
// "12 matches, 1.2 ms in all (0.3 % of the time), 80 us to 140 us each", and notes.
std::string matches_summary(const Matches &matches, const RunList &list, const Context &context);
activities::Rows matches_histogram(const Matches &matches, const std::string &pattern);

// The first `max_rows` runs, sorted by start.
report::Table runs_table(const RunList &list, const Context &context, std::size_t max_rows, std::size_t &left_out);

} // namespace monitor::run_lengths
