// SPDX-License-Identifier: MIT
// record --statistics --count-only: no tokens, only the probes' counts by class; a period's file has the increments. A
// period ends when the counts are read: right after a multiple of its length in real time.
//
//     CountedPeriods periods(...);         // before the probes are attached
//     periods.start(directory, begin);     // after the probes are attached
//     periods.end_period(now);             // in the thread that drains, when one is due
//     periods.end(last);                   // the probes are still attached
//     periods.finish();                    // the last file is written
//
// Next in the flow: reading/analyze/statistics_replay.cpp. Invariant: the sums over all periods, and the counts before
// the first and after the last one, equal the probes' counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "period_files.h"
#include "recording/rings/class_counts.h"
#include "recording/rings/clock.h"

namespace monitor::record {

// Precision of the periods.
struct PeriodReads {
	std::uint64_t max_late_ns = 0;  // delay from a period's nominal end to the read of its counts
	std::uint64_t max_width_ns = 0; // how long reading them took
};

class CountedPeriods {
public:
	using ReadClock = std::function<Sync()>;

	CountedPeriods(const card::BpfCard &card, const StatisticsOptions &options, const Uuid &uuid,
		       ReadClock read_clock, std::function<std::string()> describe, std::uint64_t time_shift = 0,
		       std::uint32_t first_stream = 0)
	    : card_(card), options_(options), uuid_(uuid), read_clock_(std::move(read_clock)),
	      describe_(std::move(describe)), reader_(card), time_shift_(time_shift), number_(first_stream)
	{
	}

	// `ages`: of existing periods.
	void start(const std::string &directory, const Sync &begin, const PeriodFiles::Ages &ages = {});
	// End of the first period.
	std::chrono::steady_clock::time_point due() const;

	void end_period(const Sync &now); // throws Error if an earlier one could not be written
	void end(const Sync &last) { end_ = edge_at(last, last.realtime_ns); }
	void finish();

	// Reads the current counts.
	const CountsByClass &read() { return reader_.read(); }
	const PeriodReads &reads() const { return reads_; }

private:
	struct Edge {
		Sync at;
		std::uint64_t wall_ns = 0;     // nominal
		std::uint64_t recorder_ns = 0; // CPU time so far
		CountsByClass counts;
	};

	Edge edge_at(const Sync &at, std::uint64_t wall_ns);
	void write(const Edge &until, const CountsByClass *after);

	const card::BpfCard &card_;
	const StatisticsOptions options_;
	const Uuid uuid_;
	const ReadClock read_clock_;
	const std::function<std::string()> describe_;
	ClassCountReader reader_;
	std::unique_ptr<PeriodFiles> files_;
	std::set<std::string> attached_; // names of the classes that are counted
	std::uint64_t first_due_ns_ = 0; // monotonic
	Edge since_;                     // the begin of the period
	std::optional<Edge> end_;        // of the last one
	bool has_before_ = true;         // counts before the first period are not written yet
	CountsByClass before_;
	const std::uint64_t time_shift_; // is added to all times
	std::uint32_t number_;           // of the next period's stream
	PeriodReads reads_;
};

} // namespace monitor::record
