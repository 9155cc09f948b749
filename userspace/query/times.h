// SPDX-License-Identifier: MIT
// Times as the columns of events have them, and back into ticks to seek to.
//
// Called by the plans (plan.h). Invariant: the range that ticks_of() gives has every event that the constraint takes;
// it may have more, as SQLite asks again.
#pragma once

#include "event_columns.h"
#include "trace/merge.h"
#include "trace/trace.h"

namespace monitor::query {

// `column` is one of times. NULL is taken by no event.
trace::TimeRange ticks_of(EventColumn::From column, Op op, const Value &value, const trace::Trace &trace);

} // namespace monitor::query
