// SPDX-License-Identifier: MIT
// Refreshes of `monitor top` as text and as lines of JSON (--batch, --json).
#pragma once

#include <cstddef>
#include <string>

#include "answers/live/refresh.h"
#include "row_filter.h"
#include "top.h"

namespace monitor::top {

// `max_rows`: of the table, 0: all. `max_width`: of a line, 0: unlimited. `filter`: of the rows, null: none.
std::string refresh_text(const Refresh &refresh, const Status &status, std::size_t max_rows, std::size_t max_width,
			 const RowFilter *filter = nullptr);
// One line, without line feed: {"number", "begin_ns", "end_ns", "begin_ticks", "end_ticks", "end_unix_ns", "whole",
// "lost", "late", "machine", "cpus", "rows", "hidden_rows", "ratios", "virtual", "details", "other_recorders", "cost"}.
std::string refresh_json(const Refresh &refresh, const Status &status, const RowFilter *filter = nullptr);

} // namespace monitor::top
