// SPDX-License-Identifier: MIT
// The table of `monitor fleet cost`, from the collector's accounts (fleet/collector/cost_account.h). Invariant: a sum
// with an unknown part is unknown.
#pragma once

#include <nlohmann/json.hpp>

#include "answers/report/table.h"

namespace monitor::fleet_operator {

// Rows: each agent, their sum, the server, the collector. `accounts`: fleet.json.
report::Table cost_table(const nlohmann::json &untrusted_accounts);

} // namespace monitor::fleet_operator
