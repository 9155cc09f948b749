// SPDX-License-Identifier: MIT
// `monitor fleet cost`: the table of what bringing a run here has cost, from what its collector has written
// (fleet/collector/cost_account.h). Invariant: a sum over something that is not known is not known.
#pragma once

#include <nlohmann/json.hpp>

#include "answers/report/table.h"

namespace monitor::fleet_operator {

// A row for each agent, for all of them, for the server and the collector. `accounts`: the content of fleet.json.
report::Table cost_table(const nlohmann::json &untrusted_accounts);

} // namespace monitor::fleet_operator
