// SPDX-License-Identifier: MIT
// `monitor fleet record` after the start: waits until the command, the hosts or the user end the run, and with -o until
// every block of it is stored here.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/operator/coordinated_view.h"
#include "fleet_requests.h"
#include "termination.h"

namespace monitor {

class FleetFollow {
public:
	// `output`: where traces are collected, "": nowhere. `is_flight`: the hosts make snapshots. Throws Error.
	// `hub_pid`: the server's process, 0: not known.
	FleetFollow(FleetRequest &request, const std::string &run, const std::string &output, bool is_flight,
		    int hub_pid);

	// Collects reports of triggers that make all hosts take snapshots. Call before the command is sent.
	void watch_triggers();
	// Waits until CMD has ended, or without CMD all hosts that started; or for a signal. Returns CMD's exit code.
	std::optional<int> wait_until_end(const std::vector<std::string> &command, Termination &termination);
	// Sends the command to stop to hosts that still record.
	void stop();
	// Waits until everything recorded is stored, for a timeout or for a signal. Returns the hosts whose traces are
	// incomplete.
	std::vector<std::string> wait_until_stored(Termination &termination);

private:
	bool all_ended();
	// Its agent was restarted and no longer records in this run: it will report no end.
	bool is_cut_off(const std::string &host);
	std::set<std::string> started() const;
	struct Stored {
		std::uint64_t blocks = 0, traces = 0;
		std::vector<std::string> missing; // hosts whose traces are incomplete
	};
	bool is_stored(const std::string &directory) const;
	Stored stored();
	std::set<std::string> hosts_taking_part() const;
	void print_settled_triggers(bool is_end);

	FleetRequest &request_;
	const std::string run_, output_;
	const bool is_flight_;
	std::unique_ptr<fleet::CollectorService> service_;
	std::unique_ptr<fleet_operator::CoordinatedView> triggers_; // null: not requested
	std::vector<fleet_operator::CoordinatedSnapshot> printed_triggers_;
	std::map<std::string, std::string> sessions_; // session of each recording host's agent, when first seen
	std::set<std::string> cut_off_;
};

} // namespace monitor
