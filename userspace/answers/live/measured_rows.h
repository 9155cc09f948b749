// SPDX-License-Identifier: MIT
// Adds figures to the rows of a usage table: measurements of counters (answers/report/measurements_table.h), and times
// without probes (answers/report/virtual_table.h).
#pragma once

#include "answers/report/table.h"
#include "answers/report/virtual_table.h"

namespace monitor::live {

// Both tables have the same kind of rows. Adds the columns of `measured` to `rows`; cells are empty where nothing was
// counted, or where rows are ambiguous because they have the same name and number. Returns the rows of `measured`
// without a match: idle, unknown and others.
report::Table add_measured(report::Table &rows, report::Table measured);

// The same for virtual times and their ranges. Without a report they are unknown: all cells are empty.
void add_virtual(report::Table &rows, const report::VirtualReport *report);

} // namespace monitor::live
