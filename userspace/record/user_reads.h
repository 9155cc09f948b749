// SPDX-License-Identifier: MIT
// Which counters instrumented programs are to read themselves, at the borders of their activities: those of the first
// set, where this machine lets programs read counters. Used by recording.cpp and counter_classes.cpp.
#pragma once

#include <string>
#include <vector>

#include "counting.h"
#include "monitor/user_ring.h"

namespace monitor::record {

struct UserReads {
	std::vector<edc_user_counter> counters;
	std::string refused; // why there are none
};

UserReads user_reads(const Counting &counting);

} // namespace monitor::record
