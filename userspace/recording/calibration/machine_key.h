// SPDX-License-Identifier: MIT
// Identifies the machine for which cached measurements of the probes are valid.
#pragma once

#include <string>

#include "kept_factors.h"

namespace monitor::card {

// CPU model, kernel, its mode of preemption, and the probes.
std::string machine_and_card();
// The file for this machine and version, in $MONITOR_FACTORS or /run/monitor.
FactorsFile factors_of_this_machine();

} // namespace monitor::card
