// SPDX-License-Identifier: MIT
// Refreshes of `monitor top` as text and as lines of JSON (--batch, --json).
#pragma once

#include <cstddef>
#include <string>

#include "answers/live/refresh.h"
#include "top.h"

namespace monitor::top {

// `max_rows`: of the table, 0: all. `max_width`: of a line, 0: any.
std::string refresh_text(const Refresh &refresh, const Status &status, std::size_t max_rows, std::size_t max_width);
// One line, without its end: {"number", "begin_ns", "end_ns", "begin_ticks", "end_ticks", "end_unix_ns", "whole",
// "lost", "late", "machine", "cpus", "rows", "other_recorders", "cost"}.
std::string refresh_json(const Refresh &refresh, const Status &status);

} // namespace monitor::top
