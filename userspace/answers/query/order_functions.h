// SPDX-License-Identifier: MIT
// The SQL functions before(A_TIME, A_HOST, B_TIME, B_HOST): whether A happened before B, by the bounds of the hosts'
// clocks; and clock_bound_ns(TIME, HOST): such a bound, in ns.
// Times are as in the column time_ns, hosts as in the column host. Invariant: the result is 1 or 0 only if it is the
// same for every pair of true times within the bounds; otherwise, and for NULL, it is NULL. So is an unknown bound.
#pragma once

#include <sqlite3.h>

#include "reading/events/trace.h"

namespace monitor::query {

// `trace` must outlive the connection. False: SQLite has no memory.
bool add_order_functions(sqlite3 *handle, const trace::Trace &trace);

} // namespace monitor::query
