// SPDX-License-Identifier: MIT
// The process of `monitor agent` that talks to the hub, without any privilege. It passes what arrives on m.ctl.HOST and
// m.ctl.all to the privileged process unchanged, publishes its answers, and publishes this host's presence
// (m.hello.HOST) each second and on request. It also sends traces to the collector (data_path.h), and coordinates
// snapshots (coordinated_snapshots.h).
//
// Forked from the privileged process before there are threads. Threads: run() in the main one; those of libnats, which
// only write to the link and wake the main one. Invariant: it ends when the privileged process has closed the link, at
// the latest some seconds after.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/fd.h"
#include "coordinated_snapshots.h"
#include "data_path.h"
#include "fleet/wire/connection.h"
#include "fleet/wire/forward.h"
#include "fleet/wire/reports.h"

namespace monitor::agent {

struct NetworkOptions {
	fleet::ConnectionOptions connection;
	std::string host;
	std::string runs; // the directory of traces
	fleet::Forward forward = fleet::Forward::batch;
	fleet::Presence presence; // its constant part
};

class NetworkProcess {
public:
	// Throws Error.
	NetworkProcess(NetworkOptions options, Fd link);

	// Returns the exit code.
	int run();

private:
	void pass_to_privileged(const fleet::Connection::Message &untrusted_message);
	void wake();
	void report_problem(const std::string &problem);
	bool wait_for_runs();
	bool read_link();
	void set_runs(const fleet::Presence &state);
	void wait_until(std::chrono::steady_clock::time_point time);
	std::chrono::steady_clock::time_point next_presence() const;
	void start_fetch(const fleet::FetchRequest &request);
	void add_traces(fleet::CommandAnswer &answer);
	void publish_answers();
	void publish_presence();
	void end();

	NetworkOptions options_;
	Fd link_;
	fleet::Presence presence_;
	std::chrono::steady_clock::time_point clock_due_; // when to read the system clock again
	bool knows_runs_ = false, list_requested_ = false;
	std::deque<std::string> answers_; // not published yet
	// Traces of a run by the nonce of a fetch, for its answer.
	std::map<std::string, std::vector<fleet::CommandAnswer::Trace>> traces_;
	std::atomic<std::uint64_t> dropped_ = 0, reported_dropped_ = 0;
	std::atomic<bool> receives_triggers_ = true; // m.fired of other hosts; false: the hub forbids it
	std::atomic<bool> presence_requested_ = false;
	std::chrono::steady_clock::time_point next_periodic_,
	    next_on_request_; // when to publish its presence: periodically, on request
	Fd wakeup_;           // wakes the main thread
	CoordinatedSnapshots coordinated_;
	std::unique_ptr<DataPath> data_;
	std::unique_ptr<fleet::Connection> connection_; // last: its threads use the others
};

} // namespace monitor::agent
