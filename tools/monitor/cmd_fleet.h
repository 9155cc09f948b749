// SPDX-License-Identifier: MIT
// The verbs of `monitor fleet`, one cmd_fleet_VERB.cpp each; called only by cmd_fleet.cpp.
#pragma once

#include <CLI/CLI.hpp>

namespace monitor {

void add_fleet_collect(CLI::App &fleet, int &exit_code);
void add_fleet_push(CLI::App &fleet, int &exit_code);

} // namespace monitor
