// SPDX-License-Identifier: MIT
// Answers "how much of each CPU was idle" twice: by the number of samples, with the interval that sampling leaves open,
// and by time, from the switches.
#pragma once

#include <cstdint>
#include <string>

#include "reading/analyze/samples.h"
#include "table.h"

namespace monitor::report {

struct ShareInterval {
	double low = 0, high = 1;
};

// Of a share of which `hits` of `samples` were seen: the 95 % interval of a binomial distribution, by Wilson's formula.
// Without samples every share is possible. The `missing` samples, which are not in `samples`, may be hits or not.
ShareInterval share_interval(std::uint64_t hits, std::uint64_t samples, std::uint64_t missing);

// After the last event.
Table idle_table(const analyze::SampleFold &fold, const analyze::ThreadFold &thread_fold);
std::string idle_text();

} // namespace monitor::report
