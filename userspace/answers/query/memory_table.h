// SPDX-License-Identifier: MIT
// A table with few rows, all made when a query starts to read it: threads and ratios, which are cached (folded.h),
// classes, streams and info, which are made each time.
// Used through Module (module.h). Invariant: rows do not change once made, and a row has as many values as columns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "value.h"

namespace monitor::query {

using Rows = std::vector<std::vector<Value>>;

// The definition of a table: its SQL columns, and the source of its rows.
struct MemoryTableSpec {
	std::string columns; // "name TEXT, value REAL"
	// Only these columns need values: a bit each, counted from 0, bit 63 for all from 63 on.
	std::function<std::shared_ptr<const Rows>(std::uint64_t columns_used)> rows;
};

class MemoryCursor {
public:
	explicit MemoryCursor(const MemoryTableSpec &spec, const std::vector<std::uint64_t> &used)
	    : spec_(spec), used_(used)
	{
	}

	void filter(int plan, sqlite3_value **)
	{
		rows_ = spec_.rows(used_[static_cast<std::size_t>(plan)]);
		at_ = 0;
	}
	void next() { ++at_; }
	bool is_at_end() const { return !rows_ || at_ >= rows_->size(); }
	void column(sqlite3_context *context, std::size_t number) const { put(context, (*rows_)[at_][number]); }
	std::int64_t row_id() const { return static_cast<std::int64_t>(at_); }

private:
	const MemoryTableSpec &spec_;
	const std::vector<std::uint64_t> &used_;
	std::shared_ptr<const Rows> rows_;
	std::size_t at_ = 0;
};

class MemoryTable {
public:
	using Cursor = MemoryCursor;

	explicit MemoryTable(MemoryTableSpec spec) : spec_(std::move(spec)) {}

	std::string declaration() const { return "CREATE TABLE x(" + spec_.columns + ")"; }
	int best_index(sqlite3_index_info &info)
	{
		std::size_t plan = 0;
		while (plan < used_.size() && used_[plan] != info.colUsed)
			++plan;
		if (plan == used_.size())
			used_.push_back(info.colUsed);
		info.idxNum = static_cast<int>(plan);
		info.estimatedRows = assumed_rows;
		info.estimatedCost = assumed_rows;
		return SQLITE_OK;
	}
	std::unique_ptr<MemoryCursor> make_cursor() { return std::make_unique<MemoryCursor>(spec_, used_); }

private:
	static constexpr int assumed_rows = 500; // few compared with events

	MemoryTableSpec spec_;
	std::vector<std::uint64_t> used_; // by plan
};

} // namespace monitor::query
