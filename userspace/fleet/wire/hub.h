// SPDX-License-Identifier: MIT
// The address of the hub, or of a cluster's hubs, as given on the command line, and what a failed connection means for
// the user. Invariant: without TLS only this machine itself is an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monitor::fleet {

struct HubAddress {
	bool tls = true;
	std::string host; // without the brackets of an IPv6 address
	std::uint16_t port = 4222;

	std::string url() const;           // as the library takes it
	std::string host_and_port() const; // for messages
};

// "tls://HUB[:PORT]", or "nats://" with an address of this machine itself. Throws Error.
HubAddress parse_hub(const std::string &text);

// The hubs of a cluster, separated by commas, are tried in this order; all with TLS, or all without.
inline constexpr std::size_t max_hubs = 8;
std::vector<HubAddress> parse_hubs(const std::string &text);
std::string hubs_text(const std::vector<HubAddress> &hubs);

enum class HubProblem {
	unreachable, // no TCP connection, or none in time
	handshake,   // TLS failed
	wants_tls,   // the server does, the address does not
	without_tls, // the other way round
	refused,     // the server has no user of this certificate's name
	lost,        // there was a connection
	protocol,    // anything else
};

// One sentence with the remedy. `detail` is the library's text, "" for none.
std::string hub_problem(const HubAddress &hub, HubProblem problem, std::string_view detail);

// How long to wait before attempt number `failed` + 1, in ms: from 100 ms, doubled up to 5 s, less up to a half by
// chance (0 to 1), so that ten thousand hosts do not reconnect at the same moment. Each of several `hubs` is tried
// before the delay grows.
unsigned reconnect_delay_ms(unsigned failed, double chance, std::size_t hubs = 1);

} // namespace monitor::fleet
