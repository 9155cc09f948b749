// SPDX-License-Identifier: MIT
// How old the periods are that earlier recordings left in a directory of statistics (lives.h), by clocks that nobody
// sets. Within one boot of the machine that is the trace's clock. Between two boots only the system's clock runs, and
// somebody may have set it, by years where a machine has no battery: that time is not counted. Next in the flow:
// period_files.cpp, which removes what is too old.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "period_files.h"

namespace monitor::record {

// By file, as trace time; nothing: it is damaged.
using PeriodEnds = std::map<std::string, std::optional<std::uint64_t>>;
PeriodEnds ends_of_periods(const std::string &directory);
std::uint64_t last_of(const PeriodEnds &ends); // 0: there is none

// `boots`: the begin of the first recording in each but the first. A damaged file is kept as long as one that ends now.
PeriodFiles::Ages ages_of(const PeriodEnds &ends, const std::vector<std::uint64_t> &boots, std::uint64_t now,
			  std::uint64_t frequency_hz);

} // namespace monitor::record
