// SPDX-License-Identifier: MIT
// The address of the hub, or of a cluster's hubs, as given on the command line, and messages for failed connections.
// Invariant: without TLS only addresses of this machine are accepted.
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
	unreachable, // no TCP connection within the time-out
	handshake,   // TLS failed
	wants_tls,   // the server uses TLS, the address does not
	without_tls, // the reverse
	refused,     // the server has no user of this certificate's name
	lost,        // an existing connection broke
	protocol,    // anything else
};

// A message with the remedy. `detail` is the library's text, or "".
std::string hub_problem(const HubAddress &hub, HubProblem problem, std::string_view detail);

// The delay before attempt number `failed` + 1, in ms: 100 ms, doubled up to 5 s, and shortened by up to a half at
// random (`chance`: 0 to 1), so that ten thousand hosts do not reconnect at the same moment. The delay grows once all
// `hubs` were tried.
unsigned reconnect_delay_ms(unsigned failed, double chance, std::size_t hubs = 1);

} // namespace monitor::fleet
