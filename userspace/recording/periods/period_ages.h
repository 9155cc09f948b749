// SPDX-License-Identifier: MIT
// Ages of periods from earlier recordings (lives.h), by clocks that cannot be set: within a boot the trace clock.
// Between boots only the system clock runs, which may have been set (by years without an RTC battery), so that time
// does not count. Next in the flow: period_files.cpp, which removes old periods.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "period_files.h"

namespace monitor::record {

// End of each file's period in trace time; none: damaged.
using PeriodEnds = std::map<std::string, std::optional<std::uint64_t>>;
PeriodEnds ends_of_periods(const std::string &directory);
std::uint64_t latest_end(const PeriodEnds &ends); // 0: no periods

// `boots`: the start of the first recording in each boot but the first. A damaged file is treated as one that ends now.
PeriodFiles::Ages ages_of(const PeriodEnds &ends, const std::vector<std::uint64_t> &boots, std::uint64_t now,
			  std::uint64_t frequency_hz);

} // namespace monitor::record
