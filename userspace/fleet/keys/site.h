// SPDX-License-Identifier: MIT
// A site of a fleet: a place whose hosts reach the hub through a relay, a nats-server of the site's own that is a leaf
// node of the hub.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/wire/hub.h"

namespace monitor::fleet {

inline constexpr std::uint16_t default_leaf_port = 7422;

struct Site {
	std::string name;
	HubAddress relay; // where its hosts connect
	std::vector<std::string> hosts;
};

// Letters, digits and '-', 1 to 32, not starting with '-'.
bool is_site_name(std::string_view untrusted_name);

// The relay's user name at the hub, and the name in its certificate; no host can have it.
inline std::string relay_user(const std::string &site)
{
	return "fleet_relay_" + site;
}

} // namespace monitor::fleet
