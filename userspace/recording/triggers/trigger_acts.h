// SPDX-License-Identifier: MIT
// Commands and signals of fired triggers (--trigger '... => run CMD, signal SIG'): rate limits, environment and
// results. Main thread only; trigger_runner.cpp executes them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "recording/user_card/user_card.h"
#include "trigger_runner.h"
#include "triggers.h"

namespace monitor::record {

class TriggerActs {
public:
	// `users`: null if no events of programs are recorded; must outlive it. Before the privileges are dropped.
	// Throws Error.
	TriggerActs(const std::vector<NamedTrigger> &triggers, std::string directory, const User &user,
		    const card::UserCard *users);

	void act(const Firing &firing);
	// -1: there is nothing to run. If it is readable, call collect().
	int fd() const { return runner_ ? runner_->fd() : -1; }
	void collect();
	// By trigger.
	const std::vector<ActCounts> &accounts() const { return accounts_; }

private:
	std::vector<std::string> environment(const Firing &firing) const;
	void send_signals(const Firing &firing);
	bool is_too_often(std::uint32_t command, const Firing &firing);

	const std::vector<NamedTrigger> &triggers_;
	const std::string directory_;
	const card::UserCard *const users_;
	std::unique_ptr<TriggerRunner> runner_; // null: no trigger needs it
	std::vector<std::size_t> trigger_of_;   // of each command
	std::vector<unsigned> per_minute_;      // likewise
	std::vector<std::deque<std::uint64_t>> started_ns_;
	std::vector<ActCounts> accounts_;
};

// "NAME=VALUE" of each field of the event that fired, in the order of its class.
std::vector<std::string> fields_of(const edc_firing &firing);
std::vector<std::string> fields_of(const edc_firing &firing, const card::UserClass &cls);

} // namespace monitor::record
