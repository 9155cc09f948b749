// SPDX-License-Identifier: MIT
// The SQL functions before(A_TIME, A_HOST, B_TIME, B_HOST): whether the one happened before the other, by the bounds of
// the hosts' clocks; and clock_bound_ns(TIME, HOST): such a bound, in ns.
//
// Added by Database. Times are as in the column time_ns, hosts as in the column host. Invariant: the result is 1 or 0
// only if every pair of true times within the bounds gives it; otherwise, and for NULL, it is NULL. So is a bound that
// is unknown.
#pragma once

#include <sqlite3.h>

#include "reading/events/trace.h"

namespace monitor::query {

// `trace` must outlive the connection. False: SQLite has no memory.
bool add_order_functions(sqlite3 *handle, const trace::Trace &trace);

} // namespace monitor::query
