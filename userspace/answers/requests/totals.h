// SPDX-License-Identifier: MIT
// Sums the steps of many requests in rows: one per pair of points, or of hosts.
// Fed one request at a time. All times are kept, so percentiles are exact. Unknown times are counted, and are in no
// figure. Invariant: at most max_rows rows; steps of further pairs are counted.
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
	std::uint64_t requests = 0, count = 0; // with this step; total number of it
	std::uint64_t unknown = 0;             // of `count`: with an unknown time
	std::uint64_t order_unknown = 0;       // of `count`
	bool is_exact = true;
	std::uint64_t max_bound_ns = 0; // of known times
	std::vector<std::int64_t> times;
	__int128 total_ns = 0, share_ns = 0; // the latter: only of requests whose own time is known
	std::uint64_t last_request = ~std::uint64_t(0);

	bool is_known() const { return !times.empty(); }
	// Of sorted times, by nearest rank.
	std::int64_t percentile(double p) const;
};

class Totals {
public:
	static constexpr std::size_t max_rows = 65'536;

	// `request`: its number; calls for one request are consecutive.
	void add(std::uint64_t request, std::uint32_t from, std::uint32_t to, const Elapsed &time, bool is_order_known,
		 bool is_in_share);
	std::uint64_t left_out() const { return left_out_; }
	// Sorted by descending total; their times are sorted, too.
	std::vector<StepTotals> finish();

private:
	std::map<std::pair<std::uint32_t, std::uint32_t>, StepTotals> rows_;
	std::uint64_t left_out_ = 0;
};

} // namespace monitor::requests
