// SPDX-License-Identifier: MIT
// Rows of a statistic: what tells them apart, and a distribution for each.
//
// Filled per slice by the folds, merged in the order of the slices, printed by report/statistics_table.cpp.
// Invariant: there are at most `most_rows`; what would be one more is counted in `left_out`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "distribution.h"
#include "keys.h"

namespace monitor::statistics {

struct Row {
	std::vector<Cell> cells;
	Distribution values;
};

class Rows {
public:
	static constexpr std::size_t most_rows = 4'000;

	// The row of this key; make() gives its cells if it is a new one. nullptr: there are too many.
	template <class Make> Row *find(const std::string &key, Make &&make)
	{
		auto found = rows_.find(key);
		if (found == rows_.end()) {
			if (rows_.size() == most_rows) {
				++left_out_;
				return nullptr;
			}
			found = rows_.emplace(key, Row{make(), {}}).first;
		}
		return &found->second;
	}
	void merge(const Rows &other)
	{
		left_out_ += other.left_out_;
		for (const auto &[key, row] : other.rows_) {
			if (Row *mine = find(key, [&row = row] { return row.cells; }))
				mine->values.merge(row.values);
			else
				left_out_ += row.values.count() - 1;
		}
	}
	// Threads become processes: rows that are told apart by nothing else any more become one.
	void join_processes(const People &people);

	const std::unordered_map<std::string, Row> &all() const { return rows_; }
	// Values that no row was left for.
	std::uint64_t left_out() const { return left_out_; }

private:
	std::unordered_map<std::string, Row> rows_;
	std::uint64_t left_out_ = 0;
};

} // namespace monitor::statistics
