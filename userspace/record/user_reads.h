// SPDX-License-Identifier: MIT
// Which counters instrumented programs are to read themselves, at the borders of their activities: those of the first
// set, where this machine lets programs read counters. Called by
// tools/monitor/cmd_record.cpp.
#pragma once

#include "counting.h"

namespace monitor::record {

// By the selection and the format.
UserReads user_reads(const Counting &counting);

} // namespace monitor::record
