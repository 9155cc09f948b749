// SPDX-License-Identifier: MIT
// Converts times in columns of events to ticks, for seeking.
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
