// SPDX-License-Identifier: MIT
// What nats-server reads at the hub and at the relays of sites: who may connect, and which subjects are whose.
// Written by fleet_directory.cpp.
//
// The operator, the hosts of the hub and each site are accounts, between which nothing passes but what one exports and
// the other imports. nats-server 2.9 checks what a client publishes against the permissions of its user, but not what a
// leaf node does; so the hub takes from a site's account the subjects of this site's hosts only. What the hub sends to
// a relay it does check against the permissions of the relay's user. The servers of a cluster take each other for
// what they are, so they have an authority of their own for it. Invariant: a host can send as itself only, and is
// the only one that gets its answers; a relay can do both for the hosts of its site and for no others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fleet/wire/hub.h"
#include "hubs.h"
#include "site.h"

namespace monitor::fleet {

// The nats.conf of hub `number`; paths in it are relative to the directory that the server is started in, as in all of
// these.
std::string hub_configuration(const Hubs &hubs, std::size_t number);
// leafnodes.conf, which it includes: the port for relays, once there is a site.
std::string leafnodes_configuration(const HubAddress &hub, std::uint16_t leaf_port, bool has_sites);
// users.conf, which it includes and SIGHUP loads again. Users are the names in certificates.
std::string users_configuration(const std::vector<std::string> &hosts, const std::vector<Site> &sites);

// The same of a relay.
std::string relay_configuration(const Site &site, const Hubs &hubs, std::uint16_t leaf_port);
std::string relay_users_configuration(const Site &site);

} // namespace monitor::fleet
