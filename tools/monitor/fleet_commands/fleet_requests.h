// SPDX-License-Identifier: MIT
// A command to hosts, from `monitor fleet`, and its outcome on each.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cmd_fleet.h"
#include "fleet/collector/collector_service.h"
#include "fleet/operator/command.h"
#include "fleet/operator/fleet_view.h"
#include "fleet/wire/keys.h"

namespace monitor {

struct FleetRequest {
	// Connects, and selects hosts from those that are online. Throws Error.
	FleetRequest(const FleetAccess &access, const std::string &patterns);

	// Throws Error.
	void send(const fleet::ControlMessage &message, const std::vector<std::string> &to,
		  std::chrono::nanoseconds validity, std::chrono::nanoseconds lead);
	// Outcomes of this command.
	fleet_operator::Outcomes outcomes() const;
	// Waits until `is_done` for every host that was online.
	void wait(std::chrono::milliseconds timeout, bool (*is_done)(const fleet_operator::Outcome &));
	void print(bool json) const;
	// A collector for the run's traces, into `output`. Throws Error.
	std::unique_ptr<fleet::CollectorService> collector(const std::string &run, const std::string &output,
							   int hub_pid) const;

	OperatorSession session;
	fleet::SigningKey key;
	fleet_operator::FleetView view;
	std::set<std::string> present;  // that were online before
	std::vector<std::string> hosts; // the addressees
};

} // namespace monitor
