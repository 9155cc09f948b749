// SPDX-License-Identifier: MIT
// Sums the steps of many requests in rows: one for each pair of points, or of hosts.
//
// Filled by answer.cpp, a request at a time; step_tables.cpp prints the rows. All times are kept, so percentiles are
// those of the times themselves. Times that are unknown are counted, and are in no figure. Invariant: at most max_rows
// rows; steps of further pairs are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "path.h"

namespace monitor::requests {

struct StepTotals {
	std::uint32_t from = 0, to = 0;
	std::uint64_t requests = 0, count = 0; // those that have it, and how often in all
	std::uint64_t unknown = 0;             // of `count`: the time
	std::uint64_t order_unknown = 0;       // of `count`
	bool is_exact = true;
	std::uint64_t max_bound_ns = 0; // of the known
	std::vector<std::int64_t> times;
	__int128 total_ns = 0, share_ns = 0; // the latter of requests whose own time is known
	std::uint64_t last_request = ~std::uint64_t(0);

	bool is_known() const { return !times.empty(); }
	// Of times in ascending order; by nearest rank.
	std::int64_t percentile(double p) const;
};

class Totals {
public:
	static constexpr std::size_t max_rows = 65'536;

	// `request` is its number: calls of one request follow each other.
	void add(std::uint64_t request, std::uint32_t from, std::uint32_t to, const Elapsed &time, bool is_order_known,
		 bool is_in_share);
	std::uint64_t left_out() const { return left_out_; }
	// By the total, the largest first; their times are sorted.
	std::vector<StepTotals> finish();

private:
	std::map<std::pair<std::uint32_t, std::uint32_t>, StepTotals> rows_;
	std::uint64_t left_out_ = 0;
};

} // namespace monitor::requests
