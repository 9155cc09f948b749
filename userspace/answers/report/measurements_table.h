// SPDX-License-Identifier: MIT
// Answers "how well was the hardware used, and by whom": a row per process, thread, CPU ..., a column per measurement,
// and how it was counted.
#pragma once

#include <string>

#include "grouping.h"
#include "reading/analyze/counter_fold.h"
#include "table.h"

namespace monitor::report {

struct MeasurementsOptions {
	GroupingOptions grouping;
	std::uint64_t every_ticks =
	    0; // length of the intervals, which have rows of their own; 0: one for all of the time
};

// Rows by descending time; then `idle`, and `unknown` after losses: the sum is all that was counted. After each
// measurement a column NAME_counting_percent: the part of the time in which its counters were counting (100: exact).
Table measurements_table(const analyze::CounterFold &fold, const analyze::ThreadFold &thread_fold,
			 const trace::Clock &clock, const MeasurementsOptions &options);

// The columns of measurements, for any table, and their cells in a row: the time that its counts cover, then each
// measurement and the part of that time in which it was counting.
void add_measurement_columns(const analyze::CountersInfo &info, std::vector<Column> &columns);
void add_measurements(const analyze::CountersInfo &info, const analyze::CounterSums &sums, const trace::Clock &clock,
		      std::vector<Cell> &cells);

// Removes counting columns that are 100 everywhere; for text output.
Table without_exact(const Table &table);

// How each measurement was counted, and why some are missing: lines of text, or a JSON array.
std::string provenance_text(const analyze::CountersInfo &info, const Table &table);
std::string provenance_json(const analyze::CountersInfo &info, const Table &table);

// CPUs whose counts are unknown; "": none.
std::string uncounted_text(const analyze::CounterFold &fold);

} // namespace monitor::report
