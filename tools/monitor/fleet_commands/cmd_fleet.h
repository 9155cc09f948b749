// SPDX-License-Identifier: MIT
// The verbs of `monitor fleet`, one cmd_fleet_VERB.cpp each, and what they have in common.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include <CLI/CLI.hpp>

#include "fleet/keys/fleet_keys.h"
#include "fleet/wire/connection.h"

namespace monitor {

using AddVerb = void(CLI::App &fleet, int &exit_code);
AddVerb add_fleet_collect, add_fleet_cost, add_fleet_fetch, add_fleet_init, add_fleet_push, add_fleet_record,
    add_fleet_snapshot, add_fleet_status, add_fleet_stop;

// Throws Error naming the option.
void expect_run_name(const std::string &run);

// --keys and --hub.
struct FleetAccess {
	std::string keys, hub;
};
void add_fleet_access(CLI::App &verb, FleetAccess &access);

// The operator's keys, and a connection to the hub.
struct OperatorSession {
	// Throws Error if the keys are not the operator's.
	explicit OperatorSession(const FleetAccess &access);
	// Time until connected, even if only the last hub can be reached.
	std::chrono::milliseconds connect_timeout() const;
	// Throws Error if not connected in time.
	void expect_connection() const;

	fleet::FleetKeys keys;
	fleet::ConnectionOptions connection_options;
	std::set<std::string> hosts; // of the fleet
	std::unique_ptr<fleet::Connection> connection;
};

} // namespace monitor
