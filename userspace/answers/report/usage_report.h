// SPDX-License-Identifier: MIT
// Answers "who used the CPUs, in which mode, and waited how long": tables made from ThreadFold.
#pragma once

#include <cstddef>
#include <functional>

#include "grouping.h"
#include "reading/analyze/recorded.h"
#include "reading/analyze/thread_fold.h"
#include "table.h"

namespace monitor::report {

struct UsageOptions {
	GroupingOptions grouping;
	analyze::Recorded recorded;
	bool with_sleepers = true; // including rows that only waited, slept or migrated
	// Restricts rows to threads, and to their usage in a cgroup; empty: all.
	std::function<bool(const analyze::Thread &, std::uint64_t cgroup)> only{};
	std::size_t max_rows = ~std::size_t(0); // keeps those with the most CPU time
};

// Sorted by CPU time; without idle time and threads that did nothing. Sets `further_rows` to the number of rows beyond
// max_rows.
Table usage_table(const analyze::ThreadFold &fold, const trace::Clock &clock, const UsageOptions &options,
		  std::size_t *further_rows = nullptr);

// A row per CPU with its times, idle and steal included.
Table cpu_table(const analyze::ThreadFold &fold, const trace::Clock &clock, const analyze::RecordingInfo &info,
		const analyze::Recorded &recorded);

} // namespace monitor::report
