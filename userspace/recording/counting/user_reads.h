// SPDX-License-Identifier: MIT
// Which counters instrumented programs should read themselves, at the boundaries of their activities: those of the
// first set, if this machine lets programs read counters.
#pragma once

#include "counting.h"

namespace monitor::record {

// Depends on the selection and the format.
UserReads user_reads(const Counting &counting);

} // namespace monitor::record
