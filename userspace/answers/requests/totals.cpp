// SPDX-License-Identifier: MIT
#include "totals.h"

#include <algorithm>

#include "base/histogram.h"

namespace monitor::requests {

std::int64_t StepTotals::percentile(double p) const
{
	return times[nearest_rank(p, times.size()) - 1];
}

void Totals::add(std::uint64_t request, std::uint32_t from, std::uint32_t to, const Elapsed &time, bool is_order_known,
		 bool is_in_share)
{
	const bool is_full = rows_.size() >= max_rows && !rows_.contains({from, to});
	if (is_full) {
		++left_out_;
		return;
	}
	StepTotals &row = rows_[{from, to}];
	row.from = from;
	row.to = to;
	row.requests += row.last_request != request;
	row.last_request = request;
	++row.count;
	row.order_unknown += !is_order_known;
	row.is_exact = row.is_exact && time.is_exact;
	if (!time.is_known()) {
		++row.unknown;
		return;
	}
	row.max_bound_ns = std::max(row.max_bound_ns, *time.bound_ns);
	row.times.push_back(time.ns);
	row.total_ns += time.ns;
	row.share_ns += is_in_share ? time.ns : 0;
}

std::vector<StepTotals> Totals::finish()
{
	std::vector<StepTotals> rows;
	for (auto &[pair, row] : rows_) {
		std::ranges::sort(row.times);
		rows.push_back(std::move(row));
	}
	rows_.clear();
	std::ranges::stable_sort(rows,
				 [](const StepTotals &a, const StepTotals &b) { return a.total_ns > b.total_ns; });
	return rows;
}

} // namespace monitor::requests
