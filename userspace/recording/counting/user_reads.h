// SPDX-License-Identifier: MIT
// The counters that instrumented programs read themselves (rdpmc) at the boundaries of activities: those of the first
// set, if this machine permits it.
#pragma once

#include "counting.h"

namespace monitor::record {

// Depends on the selection and the format.
UserReads user_reads(const Counting &counting);

} // namespace monitor::record
