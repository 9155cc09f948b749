// SPDX-License-Identifier: MIT
// Puts more figures into the rows of a usage table: what counters measured (answers/report/measurements_table.h), and
// times as if nobody measured (answers/report/virtual_table.h).
#pragma once

#include "answers/report/table.h"
#include "answers/report/virtual_table.h"

namespace monitor::live {

// Both tables have the same kind of rows. Adds the columns of `measured` to `rows`, empty where nothing was counted or
// where two rows have the same name and number, so that it is not known which is meant. Returns the rest of `measured`:
// idle, unknown, and what found no row.
report::Table add_measured(report::Table &rows, report::Table measured);

// The same with virtual times and their ranges. Without a report they are not known: all cells are empty.
void add_virtual(report::Table &rows, const report::VirtualReport *report);

} // namespace monitor::live
