// SPDX-License-Identifier: MIT
// Sends the traces in the spool to the collector while the agent runs, and keeps the spool within its limit
// (fleet/forward).
// Threads: its own makes all steps; the main thread calls. Invariant: a recording that the privileged process reports
// as running, or whose directory has just appeared, is not treated as ended.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fleet/forward/clock_exchange.h"
#include "fleet/forward/forwarding.h"
#include "fleet/forward/nats_forwarder.h"
#include "fleet/forward/spool.h"
#include "fleet/wire/connection.h"
#include "fleet/wire/fetch_request.h"
#include "fleet/wire/forward.h"
#include "fleet/wire/reports.h"

namespace monitor::agent {

// The forwarding policy of each running recording; nullopt: the agent's.
using RunningRuns = std::map<std::string, std::optional<fleet::Forward>>;

class DataPath {
public:
	struct SpoolSettings {
		std::string runs; // the directory
		std::uint64_t max_bytes = 0;
		fleet::Forward forward = fleet::Forward::batch; // default policy
	};
	// `report`: prints a message; called from several threads. `running`: from the privileged process. Throws
	// Error.
	DataPath(const fleet::ConnectionOptions &hub, const std::string &host, const SpoolSettings &settings,
		 RunningRuns running, std::function<void(const std::string &)> report);
	~DataPath();

	void set_running(RunningRuns running);
	// Returns the traces of the run.
	std::vector<fleet::CommandAnswer::Trace> fetch(fleet::FetchRequest request);
	// Fills in the session, the spool's content, and the cost.
	void fill_presence(fleet::Presence &presence) const;
	std::vector<fleet::Presence::Kept> kept() const;

private:
	using Clock = std::chrono::steady_clock;

	bool is_running(const std::string &run);
	fleet::Forward forward_of(const std::string &run) const;
	void note_announced(const RunningRuns &running);
	void step_until(const std::stop_token &stop);

	const std::function<void(const std::string &)> report_;
	const std::string runs_;
	const fleet::Forward forward_;
	std::atomic<bool> step_spool_now_ = false;
	mutable std::mutex mutex_; // protects the following
	RunningRuns running_;
	RunningRuns announced_;                               // also ended runs, as their traces may be found later
	std::map<std::string, Clock::time_point> first_seen_; // of runs that were not announced
	fleet::SpoolAccount account_;
	fleet::NatsForwarder forwarder_;
	fleet::Forwarding forwarding_;
	fleet::Spool spool_;
	const bool is_tsc_; // whether traces use the TSC; else CLOCK_MONOTONIC
	fleet::ClockExchange clock_;
	std::jthread thread_; // last: uses all of the above
};

} // namespace monitor::agent
