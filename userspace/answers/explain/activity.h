// SPDX-License-Identifier: MIT
// How many threads ran or could run at a time, from their stretches (answers/path/stretches.h).
#pragma once

#include <cstdint>
#include <functional>

#include "answers/path/stretches.h"

namespace monitor::explain {

struct Activity {
	std::uint64_t oversubscribed = 0; // ticks in which more ran or could run than there are CPUs
	std::uint64_t saturated = 0;      // in which that number ran, and others could
	std::uint64_t ready = 0;          // ticks of all threads in which they could
};

// `is_wanted`: by index in Stretches::threads().
Activity activity_of(const path::Stretches &stretches, const std::function<bool(std::uint32_t)> &is_wanted,
		     trace::TimeRange range, unsigned cpus);

} // namespace monitor::explain
