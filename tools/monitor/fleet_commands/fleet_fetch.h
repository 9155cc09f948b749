// SPDX-License-Identifier: MIT
// The collector of `monitor fleet fetch`: stores what hosts send until each has sent all that cmd_fleet_fetch.cpp
// requested.
//
// A host reports completion in .monitor/fetched.json of each trace, which names the command and arrives after the
// blocks; its answer to the command lists its traces. Invariant: a host is `fetched` only after both, and after the end
// of the recording.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "answers/report/table.h"
#include "fleet_requests.h"
#include "termination.h"

namespace monitor {

class FleetFetch {
public:
	enum class State : std::uint8_t { fetched, has_none, refused, not_whole, no_answer };
	struct Host {
		std::string name;
		State state = State::no_answer;
		std::uint64_t added = 0, blocks = 0, host_blocks = 0; // new in this fetch, here in total, on the host
		bool is_recording = false;                            // more may come
		std::string why;
	};

	// `hub_pid`: the server's process; 0: not known. Throws Error.
	FleetFetch(FleetRequest &request, const std::string &run, const std::string &output, int hub_pid);

	// The directory's number, as in commands.
	std::string store() const { return store_; }
	// Returns when all is fetched, on a timeout or on a signal.
	std::vector<Host> wait_until_fetched(Termination &termination);
	static report::Table table(const std::vector<Host> &hosts);

private:
	using Accounts = nlohmann::ordered_json;
	void update_state(Host &host, const fleet::CommandAnswer &accepted, const Accounts &accounts) const;
	bool all_list_traces() const;
	std::vector<Host> hosts();
	bool has_snapshots() const;

	FleetRequest &request_;
	const std::string output_;
	std::string store_;
	Accounts before_;
	std::unique_ptr<fleet::CollectorService> service_;
};

} // namespace monitor
