// SPDX-License-Identifier: MIT
// Answers "what happened how often" from statistics with numbers of events only (record --statistics --count-only).
#pragma once

#include "reading/analyze/thread_fold.h"
#include "table.h"

namespace monitor::report {

// After the last event.
Table periods_table(const analyze::Periods &periods, const trace::Description &description);

} // namespace monitor::report
