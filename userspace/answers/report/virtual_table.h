// SPDX-License-Identifier: MIT
// The table of `monitor report DIR --virtual`: for each row the measured times and, beside them, those without
// measurement (reading/cost/virtual_times.h), with their range.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "reading/analyze/thread_fold.h"
#include "reading/cost/virtual_times.h"
#include "table.h"
#include "usage_report.h"

namespace monitor::report {

// A time in ns: as measured, and without measurement, with the range of that; empty: not known.
struct VirtualTime {
	double measured = 0;
	std::optional<double> value{}, low{}, high{};
};

// For a row, or for the recorded command with its descendants.
struct VirtualRow {
	VirtualTime cpu, waiting, blocked;
	double overhead = 0; // the probes' part of the measured CPU time

	bool is_refused() const { return overhead > cost::max_overhead; }
};

struct VirtualCommand {
	VirtualRow row;
	std::optional<VirtualTime> elapsed; // empty: it had not ended
	double waited_ns = 0;               // for CPUs used by others, by which the range of `elapsed` is wider
};

class VirtualReport {
public:
	VirtualReport(const analyze::ThreadFold &fold, const cost::VirtualTimes &times, const cost::VirtualCost &cost,
		      const trace::Clock &clock, const UsageOptions &options);

	const Table &table() const { return table_; }
	const std::optional<VirtualCommand> &command() const { return command_; }
	std::size_t refused() const { return refused_; } // number of rows without a value
	// The part of all CPU time used by processes other than the recorded command and the recorder; and by which
	// part of a time its range is wider, as even unmeasured runs differ.
	double others() const { return others_; }
	double noise() const { return cost_.noise + cost_.noise_beside_others * others_; }

private:
	struct Sum;
	VirtualRow row_of(const Sum &sum) const;
	VirtualTime time_of(std::uint64_t measured, const std::array<double, cost::bounds> &removed,
			    bool is_known) const;
	void add_row(const Grouping &grouping, const Grouping::Row &of, const Sum &sum, bool with_sleepers);

	const cost::VirtualCost &cost_;
	const trace::Clock &clock_;
	bool with_wakings_;
	Table table_;
	std::optional<VirtualCommand> command_;
	std::size_t refused_ = 0;
	double others_ = 0;
};

// The columns after those that name the rows.
std::vector<Column> virtual_columns();
// For text: a range in one column.
Table with_ranges(const Table &table);
std::string virtual_command_text(const VirtualReport &report);
// How the range was computed, and what has no value.
std::string virtual_notes(const VirtualReport &report, const cost::VirtualCost &cost,
			  const analyze::RecordingInfo &info);
nlohmann::ordered_json virtual_json(const VirtualReport &report, const cost::VirtualCost &cost);

} // namespace monitor::report
