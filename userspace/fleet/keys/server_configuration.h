// SPDX-License-Identifier: MIT
// The configuration of nats-server at the hub and at the relays of sites: who may connect, and which subjects are
// whose.
//
// The operator, the hosts of the hub and each site are accounts, between which nothing passes but what one exports and
// the other imports. nats-server 2.9 checks what a client publishes against the permissions of its user, but not what a
// leaf node does; so the hub imports from a site's account the subjects of this site's hosts only. What the hub sends
// to a relay it does check against the permissions of the relay's user. The servers of a cluster trust each other, so
// they have an authority of their own. Invariant: a host can send as itself only, and only it gets its answers; a relay
// can do both for the hosts of its site and for no others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fleet/wire/hub.h"
#include "hubs.h"
#include "site.h"

namespace monitor::fleet {

// The nats.conf of hub `number`; all paths are relative to the server's working directory.
std::string hub_configuration(const Hubs &hubs, std::size_t number);
// leafnodes.conf, which nats.conf includes: the port for relays, if there is a site.
std::string leafnodes_configuration(const HubAddress &hub, std::uint16_t leaf_port, bool has_sites);
// users.conf, which nats.conf includes and SIGHUP reloads. Users are the names in certificates.
std::string users_configuration(const std::vector<std::string> &hosts, const std::vector<Site> &sites);

// The nats.conf of a relay.
std::string relay_configuration(const Site &site, const Hubs &hubs, std::uint16_t leaf_port);
std::string relay_users_configuration(const Site &site);

} // namespace monitor::fleet
