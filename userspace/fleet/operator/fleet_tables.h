// SPDX-License-Identifier: MIT
// The tables of `monitor fleet`: the hosts, and the outcome of a command on each.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "answers/report/table.h"
#include "command.h"
#include "fleet_view.h"

namespace monitor::fleet_operator {

// The hosts that are seen or known.
report::Table status_table(const std::map<std::string, HostSeen> &seen, const std::set<std::string> &known);

// The traces in the spools of these hosts; of one run, unless `run` is "".
report::Table kept_table(const std::map<std::string, HostSeen> &seen, const std::vector<std::string> &hosts,
			 const std::string &run);

// `present`: seen before the command was sent.
report::Table outcome_table(const Outcomes &outcomes, const std::set<std::string> &present);

// For a command to take a snapshot.
report::Table snapshot_table(const Outcomes &outcomes, const std::set<std::string> &present);

// "all 3 hosts started within 4.2 ms, as their words arrived here; ..."
std::string spread_text(const StartSpread &spread, std::size_t addressed);

} // namespace monitor::fleet_operator
