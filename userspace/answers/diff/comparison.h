// SPDX-License-Identifier: MIT
// Matches the rows of both sides, and ranks them by how much of the change they explain.
// Of several repetitions, a side's value is the median. Rows do not overlap, so shares add up. The first ranking has
// the time of the recorded command's threads: on a CPU, by mode and by call, waiting for one, asleep. The others' CPU
// time follows, and the same time by activities, by functions and by whole stacks.
// Few repetitions can show a change only in few rows. The rows to test are those with the widest gap between two groups
// of the sides' sizes, formed from the sorted values of both sides: as this ignores which side a value is from, the
// tests stay valid.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "rows.h"

namespace monitor::diff {

// One quantity on both sides. Empty: unknown.
struct Change {
	std::optional<double> before, after;

	std::optional<double> difference() const;
	std::optional<double> ratio() const;
};

struct ComparedRow {
	RowKey key;
	bool leads = false;
	Change time_ns, count;
	std::vector<std::optional<double>> before_ns, after_ns; // per repetition
	std::optional<double> share;                            // of all differences in its ranking, in percent
	bool is_tested = false;
	std::optional<double> p, corrected_p;

	bool is_significant() const;
};

struct Ranking {
	enum class Of : std::uint8_t { time, others, activities, functions, stacks, sleeps } of = Of::time;
	std::vector<ComparedRow> rows; // significant ones first, then by the size of the difference
};

struct Tests {
	std::size_t before = 0, after = 0; // number of repetitions
	std::size_t candidates = 0;        // rows with a value in all of them
	std::size_t tested = 0, significant = 0;
	bool is_possible() const;
};

bool is_significant(const std::optional<double> &p);

struct Comparison {
	Ours ours = Ours::nobody; // whose threads are in the first ranking; nobody: all
	Change elapsed_ns, cpu_ns, command_cpu_ns;
	std::optional<double> elapsed_p, command_cpu_p; // separate hypotheses: not corrected
	bool is_of_selected = false;                    // command_cpu_ns is that of the processes of record -p
	std::vector<Ranking> rankings;
	Tests tests; // for the first ranking
};

// `chosen`: empty for all; then only leading rows are ranked. Else also the others, and in one ranking with them the
// rows of processes other than the recorded command's.
Comparison compare(const std::vector<Measured> &before, const std::vector<Measured> &after, Ours ours,
		   const std::set<RowKind> &chosen);

} // namespace monitor::diff
