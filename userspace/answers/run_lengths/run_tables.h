// SPDX-License-Identifier: MIT
// Run lengths as tables: a row for each node of the tree, or for each run.
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

// What the tables have besides the runs. In text a state is indented, in the other formats it is the path to it.
struct Context {
	const states::Tree &tree;
	const std::vector<states::Who> &subjects;
	std::uint64_t window_ticks = 0; // that the runs of each subject add up to
	const trace::Clock &clock;
	std::uint64_t begin_time = 0; // of the trace
	trace::TimeText times{};      // in text
	report::Format format = report::Format::text;

	double ns(std::uint64_t ticks) const;
	// "2", "make-1234"; "" of the machine.
	std::string who(std::uint32_t subject) const;
};

// `each`: the totals are apart for each subject; those in `order` only.
report::Table totals_table(const Totals &totals, const Context &context, bool each,
			   const std::vector<std::size_t> &order);
// The same distributions with all of their values, for report::histograms_text().
activities::Rows histograms(const Totals &totals, const Context &context, bool each,
			    const std::vector<std::size_t> &order);

// "2 CPUs, 1.204 s each": what the shares are of.
std::string summary(const Totals &totals, const Context &context);

// What a pattern matches.
struct Match {
	std::uint32_t subject;
	std::size_t first, end; // in the runs of the subject
};
struct Matches {
	std::vector<Match> all; // in the order in which they begin
	activities::Distribution durations;
};
Matches matches_of(const RunList &list, const states::Automaton &automaton);
// The first `max_rows` of them.
report::Table matches_table(const Matches &matches, const RunList &list, const Context &context, std::size_t max_rows);
// "12 matches, 1.2 ms in all (0.3 % of the time), 80 us to 140 us each": and what there is besides.
std::string matches_summary(const Matches &matches, const RunList &list, const Context &context);
activities::Rows matches_histogram(const Matches &matches, const std::string &pattern);

// The first `max_rows` runs in the order in which they begin.
report::Table runs_table(const RunList &list, const Context &context, std::size_t max_rows, std::size_t &left_out);

} // namespace monitor::run_lengths
