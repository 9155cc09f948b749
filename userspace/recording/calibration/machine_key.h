// SPDX-License-Identifier: MIT
// For which machine what was measured of the probes holds.
#pragma once

#include <string>

#include "kept_factors.h"

namespace monitor::card {

// CPU model, kernel, its mode of preemption, and the probes.
std::string machine_and_card();
// Of these, and this version. The directory: MONITOR_FACTORS in the environment, else /run/monitor.
FactorsFile factors_of_this_machine();

} // namespace monitor::card
