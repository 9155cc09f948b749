// SPDX-License-Identifier: MIT
// Results of answers/statistics/ and of Pairs (reading/activities/pairs.h) as tables and histograms.
// Before Table::sort_by rows are ordered by their texts, so that the same trace gives the same output.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "answers/statistics/folds.h"
#include "bins.h"
#include "reading/activities/pairs.h"
#include "reading/ctf/description.h"
#include "table.h"

namespace monitor::report {

// The number of events, and the time between two events of the same row. Rates are relative to `wall_ns`.
Table frequencies_table(const statistics::Frequencies &frequencies, const trace::Description &description,
			const std::vector<std::string> &by, const activities::ThreadTable &threads, double wall_ns);
Table counts_table(const statistics::Counts &counts, const trace::Description &description, double wall_ns);
Table pairs_table(const activities::Rows &rows, const std::vector<std::string> &columns,
		  const activities::ThreadTable &threads, const trace::Clock &clock);
// `of`: name of the values.
Table values_table(const activities::Rows &rows, const activities::Keys &of, const std::vector<std::string> &by,
		   const activities::ThreadTable &threads);

// The tables of several activities in one, for CSV: the first column is the activity.
Table joined(const std::vector<std::pair<std::string, Table>> &parts);

// "12 ends without a start, 3 still open at the end": what an activity's rows leave out; "": nothing.
std::string unpaired_text(const activities::Pairs &pairs);
std::string unpaired_json(const activities::Pairs &pairs);

// Bins by powers of two, for the rows with the most values. `ticks`: values are ticks of this clock; otherwise plain
// numbers.
std::vector<Bins> bins_of(const activities::Rows &rows, const activities::ThreadTable &threads,
			  const trace::Clock *ticks, std::size_t max_rows);
// A bar per bin.
std::string histograms_text(const activities::Rows &rows, const activities::ThreadTable &threads,
			    const trace::Clock *ticks, std::size_t max_rows);
// For each row {"row": [...], "buckets": [{"first", "last", "count"}]}, in ns or plain.
std::string histograms_json(const activities::Rows &rows, const activities::ThreadTable &threads,
			    const trace::Clock *ticks);

} // namespace monitor::report
