// SPDX-License-Identifier: MIT
// What hosts report while an operator's command runs: presence, and answers to commands.
// Messages arrive in a thread of libnats; all else is called by the command's thread. They are untrusted: bounded and
// parsed (fleet/wire/reports.h). The sender is the subject, which the hub permits to one certificate. Invariant: memory
// is bounded even if hosts send without end, and they cannot displace other hosts' answers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "fleet/wire/connection.h"
#include "fleet/wire/reports.h"

namespace monitor::fleet_operator {

using Clock = std::chrono::steady_clock;

struct HostSeen {
	fleet::Presence presence;       // the last one
	std::set<std::string> sessions; // several: agents share the name
};

struct Received {
	std::string host;
	fleet::CommandAnswer answer;
	Clock::time_point arrived;
};

// Answers to expected commands, in order of arrival. Not thread-safe.
class KeptAnswers {
public:
	// A host answers a command at most four times, and gets few commands.
	static constexpr std::size_t max_answers = 400'000, max_of_host = 64;

	void expect(const std::string &nonce) { nonces_.insert(nonce); }
	// Drops answers to other commands, and those beyond the limits.
	void add(Received received);
	const std::vector<Received> &all() const { return all_; }

private:
	std::set<std::string> nonces_;
	std::map<std::string, std::size_t> kept_; // number of answers by host
	std::vector<Received> all_;
};

class FleetView {
public:
	static constexpr std::size_t max_hosts = 100'000, max_sessions = 8;

	explicit FleetView(fleet::Connection &connection);

	// Waits until `done`, which is evaluated after each arrival, returns true, or until the time-out.
	bool wait(std::chrono::milliseconds timeout, const std::function<bool()> &done);

	// Requests presence from all hosts, and waits for these until the time-out. Older agents report once a second
	// only.
	bool request_presence(const std::set<std::string> &hosts, std::chrono::milliseconds timeout);

	// By host. May be called within `done`.
	std::map<std::string, HostSeen> hosts() const;
	// Keeps answers to this command; called before the command is sent.
	void expect(const std::string &nonce);
	// The answers kept. May be called within `done`.
	std::vector<Received> answers() const;

private:
	// Shared with the connection's handlers.
	struct State {
		void receive_presence(const fleet::Connection::Message &untrusted_message);
		void receive_answer(const fleet::Connection::Message &untrusted_message);

		std::recursive_mutex mutex; // protects the following
		std::condition_variable_any arrived;
		std::map<std::string, HostSeen> hosts;
		KeptAnswers answers;
	};
	fleet::Connection &connection_;
	std::shared_ptr<State> state_ = std::make_shared<State>();
};

} // namespace monitor::fleet_operator
