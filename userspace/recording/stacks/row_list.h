// SPDX-License-Identifier: MIT
// Collects the unwind rows of one file in order of addresses.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "monitor/stack.h"

namespace monitor::stacks {

inline constexpr std::size_t max_rows = 4 << 20; // of a file: a browser has 2 million

class RowList {
public:
	// The row applies from its address on; removes earlier added rows at or after that address.
	void add(const edc_unwind_row &row)
	{
		while (!rows_.empty() && rows_.back().address >= row.address)
			rows_.pop_back();
		if (!rows_.empty()) {
			const edc_unwind_row &last = rows_.back();
			if (last.cfa == row.cfa && last.fp == row.fp && last.rule == row.rule)
				return;
		}
		if (rows_.size() < max_rows)
			rows_.push_back(row);
		else
			is_full_ = true;
	}

	// Empty if there are more than max_rows.
	std::vector<edc_unwind_row> take() { return is_full_ ? std::vector<edc_unwind_row>() : std::move(rows_); }

private:
	std::vector<edc_unwind_row> rows_;
	bool is_full_ = false;
};

inline edc_unwind_row without_rule(std::uint64_t address)
{
	return {static_cast<std::uint32_t>(address), 0, 0, EDC_UNWIND_NONE};
}

} // namespace monitor::stacks
