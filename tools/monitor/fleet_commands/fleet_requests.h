// SPDX-License-Identifier: MIT
// A command that a verb of `monitor fleet` has sent, or is about to send, and its outcome on each host.
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
	// Connects, sees who is there, and chooses. Throws Error.
	FleetRequest(const FleetAccess &access, const std::string &patterns);

	// Throws Error.
	void send(const fleet::ControlMessage &message, const std::vector<std::string> &to,
		  std::chrono::nanoseconds validity, std::chrono::nanoseconds lead);
	// Of what was sent so.
	fleet_operator::Outcomes outcomes() const;
	// Until it is so on every host that was there; for the others nobody waits.
	void wait(std::chrono::milliseconds patience, bool (*is_done)(const fleet_operator::Outcome &));
	void print(bool json) const;
	// Collects the run's traces into `output`, and knows who is there. Throws Error.
	std::unique_ptr<fleet::CollectorService> collector(const std::string &run, const std::string &output,
							   int hub_pid) const;

	OperatorSession session;
	fleet::SigningKey key;
	fleet_operator::FleetView view;
	std::set<std::string> present;  // that were there before
	std::vector<std::string> hosts; // that are addressed
};

} // namespace monitor
