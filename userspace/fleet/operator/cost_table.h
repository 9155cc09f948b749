// SPDX-License-Identifier: MIT
// The table of `monitor fleet cost`, from the collector's accounts (fleet/collector/cost_account.h): what was measured,
// and what follows from it by the operational laws, which is arithmetic (Denning and Buzen; table 6 of Waheed and
// Rover's ROCC paper). The utilization law: arrival rate times demand = utilization; of a part that n equal hosts send
// to, n times the rate of one. Invariant: a sum with an unknown part is unknown.
#pragma once

#include <nlohmann/json.hpp>

#include "answers/report/table.h"

namespace monitor::fleet_operator {

// Rows: each agent, their sum, the server, the collector, and the sum of all. `accounts`: fleet.json.
report::Table cost_table(const nlohmann::json &untrusted_accounts);

} // namespace monitor::fleet_operator
