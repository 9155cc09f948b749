// SPDX-License-Identifier: MIT
// The collector on the network: subscribes to the blocks and descriptions of its shard's hosts, to `m.clock.*` and to
// `m.hello.*`, and answers only to an inbox of the sending host.
//
// Clock exchanges have a connection of their own, so that they do not wait behind 16 MiB of blocks; shard 0 has those
// of all hosts, so that a run has one reference clock.
// Threads: those of the connections call the collector; the destructor waits for them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "clock_answers.h"
#include "clock_relays.h"
#include "collector.h"
#include "fleet/wire/connection.h"
#include "fleet/wire/names.h"
#include "fleet/wire/reports.h"
#include "system_clock_log.h"

namespace monitor::fleet {

class CollectorService {
public:
	// `report`: prints a message, from any thread. Throws Error.
	CollectorService(const ConnectionOptions &hub, const std::string &directory, const std::string &run,
			 std::function<void(const std::string &)> report, const Shard &shard = {}, int hub_pid = 0);
	~CollectorService();

	Collector &collector() { return *collector_; }
	// For the accounts of the cost; also counts what an agent reported before this collector started.
	void receive_presence(const std::string &host, const Presence &untrusted_presence);
	bool wait_until_connected(std::chrono::milliseconds timeout) const;
	// Requests a last report of the cost from these hosts, and waits for it briefly.
	void wait_for_costs(const std::set<std::string> &hosts);
	// Accepts no new messages; pending ones are still answered.
	void stop();
	// Saves the accounts. An error is only reported, as a full disk may have space later.
	void save();
	std::string problem() const { return data_->problem(); }

private:
	void subscribe(const Shard &shard);
	void receive_clock(const std::string &host, const Connection::Message &message, std::uint64_t t2);

	std::function<void(const std::string &)> report_;
	std::unique_ptr<Collector> collector_;
	std::unique_ptr<ClockAnswers> clocks_;
	std::unique_ptr<ClockRelays> relays_;
	std::unique_ptr<SystemClockLog> system_clocks_;
	std::unique_ptr<Connection> data_, clock_; // call the collector, which calls data_
};

} // namespace monitor::fleet
