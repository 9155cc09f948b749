// SPDX-License-Identifier: MIT
// A command of the operator to some hosts: chosen by patterns, signed, sent, and its outcome on each.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/wire/connection.h"
#include "fleet/wire/control.h"
#include "fleet/wire/keys.h"
#include "fleet_view.h"

namespace monitor::fleet_operator {

// '*' matches any text, '?' any character.
bool is_match(std::string_view pattern, std::string_view host);

// The hosts that match one of the comma-separated patterns. Throws Error if a pattern matches none.
std::vector<std::string> chosen_hosts(const std::string &patterns, const std::set<std::string> &hosts);

// Signs and publishes a command: to each host for a few, in messages of up to max_addressed_hosts for many. Sets nonce
// and times. `expect` is called with each nonce before it is sent, if answers are needed. Throws Error if there is no
// connection.
void send_command(fleet::Connection &connection, fleet::ControlMessage message, const std::vector<std::string> &hosts,
		  const fleet::SigningKey &key, std::chrono::nanoseconds validity, std::chrono::nanoseconds lead,
		  const std::function<void(const std::string &nonce)> &expect = {});

// The outcome of a command on one host, as far as reported.
struct Outcome {
	std::optional<fleet::CommandAnswer> refused, accepted, started, ended;
	Clock::time_point started_arrived;

	bool is_decided() const { return refused || started || ended; }
};

// By host, for all that were addressed.
using Outcomes = std::map<std::string, Outcome>;
Outcomes outcomes(const std::vector<std::string> &hosts, const std::vector<Received> &answers);

// The spread of the starts, in ns.
struct StartSpread {
	std::size_t hosts = 0;                              // number that started
	double arrived_ns = 0;                              // between the arrivals of their reports here
	std::optional<std::int64_t> earliest_ns, latest_ns; // relative to the planned time, by the hosts' own clocks
};
StartSpread start_spread(const Outcomes &outcomes);

} // namespace monitor::fleet_operator
