// SPDX-License-Identifier: MIT
// The directory that `monitor fleet init` makes: all keys, certificates and configurations of a fleet, by recipient.
//
//     DIR/fleet.json         the hub, the hosts, the sites, and what was removed
//     DIR/ca/                the authority: needed to add hosts and relays, and for nothing else
//     DIR/hub/               for nats-server; DIR/hub2/ and so on for the others of a cluster
//     DIR/leafs/SITE/        for the nats-server of the site's relay
//     DIR/operator/          for the operator: as fleet_keys.h reads it
//     DIR/hosts/HOST/        for this host, likewise
//
// Invariant: a key is never overwritten, and a removed name is never used again, because its old certificate would be
// accepted again.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "hubs.h"
#include "site.h"

namespace monitor::fleet {

class Authority;

class FleetDirectory {
public:
	// Makes a new directory, or none on failure. Throws Error, as all here.
	static FleetDirectory make(const std::string &path, const Hubs &hubs, const std::vector<std::string> &hosts);
	// An existing directory.
	explicit FleetDirectory(std::string path);

	// Adds hosts to this site; "": to the hub itself. If one fails, earlier ones have keys, but are not listed.
	void add(const std::vector<std::string> &hosts, const std::string &site = "");
	void remove(const std::vector<std::string> &hosts);
	// `leaf_port`: the hub's port for all relays; 0: unchanged.
	void add_site(const Site &site, std::uint16_t leaf_port);
	// Its hosts keep their keys, and become hosts of the hub.
	void remove_site(const std::string &name);

	const Hubs &hubs() const { return hubs_; }
	std::uint16_t leaf_port() const { return leaf_port_; }
	// Hosts of the hub itself.
	const std::vector<std::string> &hosts() const { return hosts_; }
	const std::vector<Site> &sites() const { return sites_; }
	// Throws Error if there is no such site.
	Site &site(const std::string &name);

private:
	FleetDirectory(std::string path, Hubs hubs) : path_(std::move(path)), hubs_(std::move(hubs)) {}
	void read_sites(const nlohmann::json &json);
	std::vector<std::string> all_hosts() const;
	void expect_new(const std::string &host) const;
	void add_unlisted(const std::string &host, Site *site, const Authority &authority,
			  const std::string &operator_pem);
	void write_hubs(const Authority &authority) const;
	void write_relay(const Site &site, const Authority &authority) const;
	Authority authority() const;
	std::string operator_pem() const;
	void write_lists() const;
	std::string json() const;

	std::string path_;
	Hubs hubs_;
	std::uint16_t leaf_port_ = default_leaf_port;
	std::vector<std::string> hosts_, removed_, removed_sites_;
	std::vector<Site> sites_;
};

} // namespace monitor::fleet
