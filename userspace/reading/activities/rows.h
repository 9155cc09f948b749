// SPDX-License-Identifier: MIT
// Rows of a statistic: what distinguishes them, and a distribution for each.
//
// Filled per partition by Pairs and the folds of answers/statistics/, merged in the order of the partitions, printed by
// answers/report/statistics_table.cpp. Invariant: there are at most `max_rows`; values that would need one more are
// counted in `left_out`.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "distribution.h"
#include "keys.h"

namespace monitor::activities {

struct DistributionRow {
	std::vector<Cell> cells;
	Distribution values;
};

class Rows {
public:
	static constexpr std::size_t max_rows = 4'000;

	// The row with this key; make() returns the cells of a new one. nullptr: the limit is reached.
	template <class Make> DistributionRow *find(const std::string &key, Make &&make)
	{
		auto found = rows_.find(key);
		if (found == rows_.end()) {
			if (rows_.size() == max_rows) {
				++left_out_;
				return nullptr;
			}
			found = rows_.emplace(key, DistributionRow{make(), {}}).first;
		}
		return &found->second;
	}
	void merge(const Rows &other)
	{
		left_out_ += other.left_out_;
		for (const auto &[key, row] : other.rows_) {
			if (DistributionRow *mine = find(key, [&row = row] { return row.cells; }))
				mine->values.merge(row.values);
			else
				left_out_ += row.values.count() - 1;
		}
	}
	// Replaces threads by their processes and merges rows that become equal.
	void join_processes(const ThreadTable &threads);

	const std::unordered_map<std::string, DistributionRow> &all() const { return rows_; }
	// Values left out because there were too many rows.
	std::uint64_t left_out() const { return left_out_; }

private:
	std::unordered_map<std::string, DistributionRow> rows_;
	std::uint64_t left_out_ = 0;
};

} // namespace monitor::activities
