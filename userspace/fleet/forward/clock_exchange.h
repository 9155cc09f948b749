// SPDX-License-Identifier: MIT
// The host's side of clock exchanges: asks the collector each second, at the start ten times in a row, each time after
// the previous answer (pending_clock_request.h).
//
// It has a connection of its own, so that a question does not wait behind blocks. The times of an exchange go with the
// next question (fleet/wire/clock_message.h). Relayed questions of other hosts are confirmed, at most 20 a second.
// Threads: one of its own asks, the connection's takes the answer; t1 and t4 are read as late and as early as possible.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "fleet/wire/clock_message.h"
#include "fleet/wire/connection.h"
#include "pending_clock_request.h"

namespace monitor::fleet {

class ClockExchange {
public:
	// `is_tsc`: the trace clock of this host. Throws Error.
	ClockExchange(const ConnectionOptions &hub, const std::string &host, bool is_tsc,
		      std::function<void(const std::string &)> report);
	~ClockExchange();

	std::uint64_t exchanges() const; // that were answered
	// Waits for the burst at the start; false if it is not answered in time.
	bool wait_for_burst(std::chrono::milliseconds timeout);

private:
	void receive(const Connection::Message &message, std::uint64_t t4);
	// Confirms a relayed question of another host.
	void confirm(std::uint64_t number, std::uint64_t received);
	void run();
	// Called with the lock. False: it is ending.
	bool wait_until_due(std::unique_lock<std::mutex> &lock);

	const std::string subject_, inbox_;
	HostClock clock_;
	mutable std::mutex mutex_; // protects the following
	std::condition_variable changed_;
	bool stopping_ = false;
	PendingClockRequest::Clock::time_point second_; // start of the second that confirmed_ counts
	unsigned confirmed_ = 0;
	PendingClockRequest request_{PendingClockRequest::Clock::now()};
	Connection connection_;
	std::thread thread_;
};

} // namespace monitor::fleet
