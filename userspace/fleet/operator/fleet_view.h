// SPDX-License-Identifier: MIT
// What the hosts of a fleet report while an operator's command runs: who is there, and what became of commands.
//
// Made by the verbs of `monitor fleet` over a connection of theirs; messages arrive in a thread of libnats, everything
// else is called by the command's thread. What hosts send is untrusted: bounded and parsed (fleet/wire/reports.h); who
// sent it is the subject, which the hub permits to one certificate.
// Invariant: a fleet that sends without end does not make this grow without end, nor does a host take the place of
// others' answers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
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
	std::set<std::string> sessions; // several: several agents have one name
};

struct Received {
	std::string host;
	fleet::CommandAnswer answer;
	Clock::time_point arrived;
};

// What hosts answer to commands that are expected to be answered, as it came. Not locked.
class KeptAnswers {
public:
	// A host says four things of a command, and is asked a few times.
	static constexpr std::size_t max_answers = 400'000, max_of_host = 64;

	void expect(const std::string &nonce) { nonces_.insert(nonce); }
	// Left out: to another command, and what is too much.
	void add(Received received);
	const std::vector<Received> &all() const { return all_; }

private:
	std::set<std::string> nonces_;
	std::map<std::string, std::size_t> number_; // by host
	std::vector<Received> all_;
};

class FleetView {
public:
	static constexpr std::size_t max_hosts = 100'000, max_sessions = 8;

	explicit FleetView(fleet::Connection &connection);

	// Waits until `done` is true of what has arrived, at most so long. `done` is called again after each arrival.
	bool wait(std::chrono::milliseconds patience, const std::function<bool()> &done);

	// Asks all hosts to say at once that they are there, and waits until these have, at most so long. Agents of
	// older versions say it each second only.
	bool call(const std::set<std::string> &hosts, std::chrono::milliseconds patience);

	// By host. Also within `done`.
	std::map<std::string, HostSeen> hosts() const;
	// Answers to this command are kept from now on: call it before the command is sent.
	void expect(const std::string &nonce);
	// Those that were kept. Also within `done`.
	std::vector<Received> answers() const;

private:
	// The connection's handlers share it.
	struct State {
		void take_presence(const fleet::Connection::Message &untrusted_message);
		void take_answer(const fleet::Connection::Message &untrusted_message);

		std::recursive_mutex mutex; // of all that follows
		std::condition_variable_any arrived;
		std::map<std::string, HostSeen> hosts;
		KeptAnswers answers;
	};
	fleet::Connection &connection_;
	std::shared_ptr<State> state_ = std::make_shared<State>();
};

} // namespace monitor::fleet_operator
