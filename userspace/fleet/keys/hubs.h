// SPDX-License-Identifier: MIT
// The hubs of a fleet: one nats-server, or a cluster of several, so that hosts continue with another one when one dies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fleet/wire/hub.h"

namespace monitor::fleet {

inline constexpr std::uint16_t default_route_port = 6222;

struct Hubs {
	std::vector<HubAddress> addresses;             // at least one
	std::uint16_t route_port = default_route_port; // where the servers of a cluster reach each other

	bool is_cluster() const { return addresses.size() > 1; }
	// Folder in the fleet's directory: "hub", "hub2", "hub3" ...
	static std::string folder(std::size_t number)
	{
		return number == 0 ? "hub" : "hub" + std::to_string(number + 1);
	}
	// The order of hubs for a key directory: host number `host` tries hub number `host` modulo the count
	// first, to spread the hosts; the operator is 0.
	std::string order_for(std::size_t host) const
	{
		std::vector<HubAddress> order = addresses;
		std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(host % order.size()),
			    order.end());
		return hubs_text(order);
	}
};

} // namespace monitor::fleet
