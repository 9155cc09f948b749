// SPDX-License-Identifier: MIT
// Writes a period of statistics as records (statistics_* of include/monitor/card.h) in blocks of a trace, from
// LiveFold's fold and PeriodSums. Read by reading/analyze/statistics_replay.cpp.
// The order: the period, events by class, CPUs, rows with their usages, sums with their buckets. At most max_rows
// threads, those with the most CPU time, have rows of their own; the others, and ended threads, are summed up in rows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "period_sums.h"
#include "reading/analyze/thread_fold.h"
#include "recording/rings/control_stream.h"

namespace monitor::live {

// What neither the fold nor the sums have. The period is the fold's window.
struct PeriodFacts {
	bool is_lossy = false;
	std::uint64_t lost = 0, late = 0, recorder_ns = 0;
	std::uint64_t time_shift = 0;    // added to all times
	std::uint64_t threads_since = 0; // start of threads whose creation was not seen
	std::vector<std::pair<std::uint32_t, std::uint64_t>> events, outside; // by class id; outside: in no period
};

constexpr std::size_t max_rows = 4096;

void write_period(record::ControlStream &to, const PeriodFacts &facts, const analyze::ThreadFold &fold,
		  const PeriodSums &sums);

} // namespace monitor::live
