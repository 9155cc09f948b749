// SPDX-License-Identifier: MIT
// Times as in the columns of events, and their conversion to ticks for seeking.
//
// Invariant: the range that ticks_of() returns includes every event that the constraint accepts; it may include more,
// as SQLite checks again.
#pragma once

#include "event_columns.h"
#include "reading/events/merge.h"
#include "reading/events/trace.h"

namespace monitor::query {

// `column` holds times. No event matches NULL.
trace::TimeRange ticks_of(EventColumn::From column, Op op, const Value &value, const trace::Trace &trace);

} // namespace monitor::query
