// SPDX-License-Identifier: MIT
// Puts what counters measured (answers/report/measurements_table.h) into the rows of a usage table. Used by
// refresh.cpp.
#pragma once

#include "answers/report/table.h"

namespace monitor::live {

// Both tables have the same kind of rows. Adds the columns of `measured` to `rows`, empty where nothing was counted or
// where two rows have the same name and number, so that it is not known which is meant. Returns the rest of `measured`:
// idle, unknown, and what found no row.
report::Table add_measured(report::Table &rows, report::Table measured);

} // namespace monitor::live
