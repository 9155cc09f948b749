// SPDX-License-Identifier: MIT
// Answers "how much of each CPU was idle" twice: from samples, with their confidence interval, and from the switches,
// by time.
#pragma once

#include <cstdint>
#include <string>

#include "reading/analyze/samples.h"
#include "table.h"

namespace monitor::report {

struct ShareInterval {
	double low = 0, high = 1;
};

// The 95 % confidence interval of a share with `hits` of `samples` (binomial distribution, Wilson's formula). Without
// samples any share is possible. `missing` samples, not included in `samples`, may be hits or not.
ShareInterval share_interval(std::uint64_t hits, std::uint64_t samples, std::uint64_t missing);

// After the last event.
Table idle_table(const analyze::SampleFold &fold, const analyze::ThreadFold &thread_fold);
std::string idle_text();

} // namespace monitor::report
