// SPDX-License-Identifier: MIT
// The directory that `monitor fleet init` makes: all keys, certificates and configurations of one fleet, by who gets
// them.
//
//     DIR/fleet.json         the hub, the hosts, and those that were removed
//     DIR/ca/                the authority: needed to add hosts, and for nothing else
//     DIR/hub/               for nats-server
//     DIR/operator/          for whoever gives commands: as base/fleet/fleet_keys.h reads it
//     DIR/hosts/HOST/        for this host, likewise
//
// Called by tools/monitor/cmd_fleet_init.cpp. Invariant: a key that was written is never written over, and a name that
// was removed is not used again, because its old certificate would be accepted again.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/fleet/hub.h"

namespace monitor::fleet_setup {

class Authority;

class FleetDirectory {
public:
	// A new one; nothing is left if it fails. Throws Error, as all here.
	static FleetDirectory make(const std::string &path, const fleet::HubAddress &hub,
				   const std::vector<std::string> &hosts);
	// One that exists.
	explicit FleetDirectory(std::string path);

	// If one fails, those before it have their keys, and are not listed.
	void add(const std::vector<std::string> &hosts);
	void remove(const std::vector<std::string> &hosts);

	const fleet::HubAddress &hub() const { return hub_; }
	const std::vector<std::string> &hosts() const { return hosts_; }

private:
	FleetDirectory(std::string path, const fleet::HubAddress &hub) : path_(std::move(path)), hub_(hub) {}
	void add_unlisted(const std::string &host, const Authority &authority, const std::string &operator_pem);
	void write_lists() const;
	std::string json() const;

	std::string path_;
	fleet::HubAddress hub_;
	std::vector<std::string> hosts_, removed_;
};

} // namespace monitor::fleet_setup
