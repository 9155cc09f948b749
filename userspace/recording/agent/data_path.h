// SPDX-License-Identifier: MIT
// Brings the traces in the spool to the collector while the agent runs, and keeps the spool within its limit; answers
// nothing and decides nothing. What is sent, and when again, is recording/fleet/'s.
//
// Made by network_part.cpp. Threads: one of its own steps; set_running() and fill() are of the main one.
// Invariant: a recording that the starter says runs, or whose directory has just appeared, is not taken for ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "base/fleet/connection.h"
#include "base/fleet/reports.h"
#include "recording/fleet/clock_exchange.h"
#include "recording/fleet/forwarding.h"
#include "recording/fleet/nats_forwarder.h"
#include "recording/fleet/spool.h"

namespace monitor::agent {

class DataPath {
public:
	// `report`: a sentence, from several threads. `running`: what the starter says. Throws Error.
	DataPath(const fleet::ConnectionOptions &hub, const std::string &host, const std::string &runs,
		 std::uint64_t max_bytes, std::set<std::string> running,
		 std::function<void(const std::string &)> report);
	~DataPath();

	void set_running(std::set<std::string> running);
	// The session, and what the spool has.
	void fill(fleet::Presence &presence) const;

private:
	using Clock = std::chrono::steady_clock;

	bool is_running(const std::string &run);
	void step_until(const std::stop_token &stop);

	const std::function<void(const std::string &)> report_;
	mutable std::mutex mutex_; // of what follows
	std::set<std::string> running_;
	std::map<std::string, Clock::time_point> first_seen_; // of runs that nobody says run
	fleet::SpoolAccount account_;
	fleet::NatsForwarder forwarder_;
	fleet::Forwarding forwarding_;
	fleet::Spool spool_;
	fleet::ClockExchange clock_;
	std::jthread thread_; // last: it uses all of the above
};

} // namespace monitor::agent
