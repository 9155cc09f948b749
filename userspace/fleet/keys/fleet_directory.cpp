// SPDX-License-Identifier: MIT
#include "fleet_directory.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <strings.h>

#include "authority.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "fleet/wire/hub.h"
#include "fleet/wire/names.h"
#include "fleet_keys.h"
#include "key_folders.h"
#include "server_configuration.h"

namespace monitor::fleet {
namespace {

namespace fs = std::filesystem;

constexpr unsigned directory_version = 2;
constexpr std::size_t max_fleet_hosts = 100'000, max_fleet_sites = 1000, max_fleet_bytes = 16 << 20, max_site_name = 32,
		      max_hubs_bytes = 4096;

// Names that differ in case only: a file system or name server may not distinguish them.
bool has_name(const std::vector<std::string> &names, const std::string &name)
{
	return std::ranges::any_of(
	    names, [&](const std::string &other) { return ::strcasecmp(other.c_str(), name.c_str()) == 0; });
}

void expect_host_name(const std::string &host)
{
	if (!is_host_name(host))
		throw Error(
		    "'{}' is not the name of a host: letters, digits, '.' and '-', as hostname(1) says it, 63 at most",
		    printable(host));
}

} // namespace

bool is_site_name(std::string_view untrusted_name)
{
	return !untrusted_name.empty() && untrusted_name.size() <= max_site_name && untrusted_name[0] != '-' &&
	       has_only(untrusted_name, "-");
}

namespace {

// Certificates contain names, so each hub needs a different one.
void expect_hubs(const Hubs &hubs)
{
	for (auto hub = hubs.addresses.begin(); hub != hubs.addresses.end(); ++hub) {
		if (std::ranges::count(hubs.addresses, hub->host, &HubAddress::host) > 1)
			throw Error("--hub {} is there twice: each hub of a cluster is a machine of its own",
				    hub->host);
		if (hubs.is_cluster() && hub->port == hubs.route_port)
			throw Error("--route-port: hosts reach the hub at port {}: hubs need another one", hub->port);
	}
	if (hubs.addresses.size() > max_hubs)
		throw Error("a fleet has at most {} hubs", max_hubs);
}

} // namespace

FleetDirectory FleetDirectory::make(const std::string &path, const Hubs &hubs, const std::vector<std::string> &hosts)
{
	expect_hubs(hubs);
	std::error_code error;
	if (fs::exists(fs::symlink_status(path, error)))
		throw Error("{} exists, and keys are never written over: use another -o, or --add HOST",
			    printable(path));
	const std::string unfinished = path + ".unfinished";
	FleetDirectory made(unfinished, hubs);
	make_folder(unfinished);
	try {
		const Authority authority;
		const SigningKey operator_key;
		const std::string ca_pem = authority.pem().certificate;
		for (const char *const folder : {"/ca", "/hosts", "/leafs"})
			make_folder(unfinished + folder);
		write_certificate(unfinished + "/ca", "ca", authority.pem());
		made.write_hubs(authority);
		write_keys(unfinished + "/operator", authority.client(operator_name), ca_pem,
			   operator_key.public_key().pem(), hubs.order_for(0));
		write_new(unfinished + "/operator/" + operator_key_file, operator_key.pem(), secret_mode);
		for (const std::string &host : hosts)
			made.add_unlisted(host, nullptr, authority, operator_key.public_key().pem());
		made.write_lists();
		if (::rename(unfinished.c_str(), path.c_str()) < 0)
			throw Error(errno, "cannot create " + path);
	} catch (const Error &) {
		fs::remove_all(unfinished, error);
		throw;
	}
	return FleetDirectory(path);
}

FleetDirectory::FleetDirectory(std::string path) : path_(std::move(path))
{
	const nlohmann::json json = parse_json(read_file(path_ + "/fleet.json", max_fleet_bytes));
	const auto hub = text_field(json, "hub", max_hubs_bytes);
	const auto port = number_field(json, "leaf_port");
	const auto route_port = number_field(json, "route_port").value_or(default_route_port);
	auto hosts = texts_field(json, "hosts", max_fleet_hosts, max_host_name);
	auto removed = texts_field(json, "removed", max_fleet_hosts, max_host_name);
	auto removed_sites = texts_field(json, "removed_sites", max_fleet_sites, max_site_name);
	if (number_field(json, "version") != directory_version || !hub || !port || *port == 0 || *port > 65535 ||
	    route_port == 0 || route_port > 65535 || !hosts || !removed || !removed_sites)
		throw Error("{}/fleet.json is not what this version of `monitor fleet init` writes", printable(path_));
	hubs_.addresses = parse_hubs(*hub);
	hubs_.route_port = static_cast<std::uint16_t>(route_port);
	leaf_port_ = static_cast<std::uint16_t>(*port);
	hosts_ = std::move(*hosts);
	removed_ = std::move(*removed);
	removed_sites_ = std::move(*removed_sites);
	read_sites(json);
}

void FleetDirectory::read_sites(const nlohmann::json &json)
{
	const nlohmann::json *const sites = json_field(json, "sites");
	if (!sites || !sites->is_array() || sites->size() > max_fleet_sites)
		throw Error("{}/fleet.json lists no sites", printable(path_));
	for (const nlohmann::json &each : *sites) {
		const auto name = text_field(each, "site", max_site_name), relay = text_field(each, "relay", 512);
		auto hosts = texts_field(each, "hosts", max_fleet_hosts, max_host_name);
		if (!name || !is_site_name(*name) || !relay || !hosts)
			throw Error("{}/fleet.json: a site in it is none", printable(path_));
		sites_.push_back({*name, parse_hub(*relay), std::move(*hosts)});
	}
}

Site &FleetDirectory::site(const std::string &name)
{
	const auto found = std::ranges::find(sites_, name, &Site::name);
	if (found == sites_.end())
		throw Error(
		    "there is no site {} in {}: to make one, say with --relay where its hosts will reach its relay",
		    printable(name), printable(path_));
	return *found;
}

std::vector<std::string> FleetDirectory::all_hosts() const
{
	std::vector<std::string> all = hosts_;
	for (const Site &site : sites_)
		all.insert(all.end(), site.hosts.begin(), site.hosts.end());
	return all;
}

void FleetDirectory::expect_new(const std::string &host) const
{
	expect_host_name(host);
	std::size_t number = hosts_.size();
	bool is_known = has_name(hosts_, host);
	for (const Site &site : sites_) {
		is_known |= has_name(site.hosts, host);
		number += site.hosts.size();
	}
	if (is_known)
		throw Error("host {} is there already: each has a name of its own", host);
	if (has_name(removed_, host))
		throw Error("host {} was removed, and its old certificate would be accepted again: give it another "
			    "name, or make a new fleet",
			    host);
	if (number >= max_fleet_hosts)
		throw Error("a fleet has at most {} hosts", max_fleet_hosts);
}

void FleetDirectory::add_unlisted(const std::string &host, Site *site, const Authority &authority,
				  const std::string &operator_pem)
{
	expect_new(host);
	write_keys(path_ + "/hosts/" + host, authority.client(host), authority.pem().certificate, operator_pem,
		   site ? site->relay.url() : hubs_.order_for(hosts_.size()));
	(site ? site->hosts : hosts_).push_back(host);
}

Authority FleetDirectory::authority() const
{
	return Authority({read_file(path_ + "/ca/ca.pem", max_key_file_bytes), read_private_file(path_ + "/ca/ca.key")},
			 path_ + "/ca");
}

std::string FleetDirectory::operator_pem() const
{
	return read_file(path_ + "/operator/" + operator_public_file, max_key_file_bytes);
}

void FleetDirectory::add(const std::vector<std::string> &hosts, const std::string &site)
{
	Site *const to = site.empty() ? nullptr : &this->site(site);
	const Authority authority = this->authority();
	const std::string operator_pem = this->operator_pem();
	for (const std::string &host : hosts)
		add_unlisted(host, to, authority, operator_pem);
	write_lists();
}

void FleetDirectory::remove(const std::vector<std::string> &hosts)
{
	for (const std::string &host : hosts) {
		std::vector<std::string> *list = &hosts_;
		for (Site &site : sites_)
			if (std::ranges::find(site.hosts, host) != site.hosts.end())
				list = &site.hosts;
		const auto found = std::ranges::find(*list, host);
		if (found == list->end())
			throw Error("there is no host {} in {}", printable(host), printable(path_));
		list->erase(found);
		removed_.push_back(host);
	}
	write_lists();
}

void FleetDirectory::add_site(const Site &site, std::uint16_t leaf_port)
{
	std::vector<std::string> names = removed_sites_;
	for (const Site &other : sites_)
		names.push_back(other.name);
	if (!is_site_name(site.name))
		throw Error("--leaf: '{}' is not the name of a site: letters, digits and '-', 32 at most",
			    printable(site.name));
	if (has_name(names, site.name))
		throw Error("site {} is, or was, there already, and the certificate of its relay would be accepted "
			    "again: give it another name",
			    site.name);
	if (leaf_port && leaf_port != leaf_port_ && !sites_.empty())
		throw Error("--leaf-port: relays reach the hub at port {} already", leaf_port_);
	const std::uint16_t port = leaf_port ? leaf_port : leaf_port_;
	const auto is_at_port = [&](const HubAddress &hub) { return hub.port == port; };
	if (std::ranges::any_of(hubs_.addresses, is_at_port) || (hubs_.is_cluster() && port == hubs_.route_port))
		throw Error("--leaf-port: hosts, or hubs, reach the hub at port {}: relays need another one", port);
	if (sites_.size() >= max_fleet_sites)
		throw Error("a fleet has at most {} sites", max_fleet_sites);
	if (leaf_port)
		leaf_port_ = leaf_port;
	for (const std::string &host : site.hosts) {
		expect_new(host);
		if (std::ranges::count(site.hosts, host) > 1)
			throw Error("host {} is named twice", host);
	}
	const Authority authority = this->authority();
	const std::string operator_pem = this->operator_pem();
	write_relay(site, authority);
	sites_.push_back({site.name, site.relay, {}});
	for (const std::string &host : site.hosts)
		add_unlisted(host, &sites_.back(), authority, operator_pem);
	write_lists();
}

// Files that never change; write_lists() writes the others.
void FleetDirectory::write_hubs(const Authority &authority) const
{
	const Authority routes;
	if (hubs_.is_cluster())
		write_certificate(path_ + "/ca", "routes", routes.pem());
	for (std::size_t i = 0; i < hubs_.addresses.size(); ++i) {
		const std::string folder = path_ + '/' + Hubs::folder(i);
		make_folder(folder);
		write_new(folder + "/ca.pem", authority.pem().certificate, public_mode);
		write_certificate(folder, "hub", authority.server(hubs_.addresses[i].host));
		write_new(folder + "/nats.conf", hub_configuration(hubs_, i), public_mode);
		if (!hubs_.is_cluster())
			continue;
		write_new(folder + "/routes-ca.pem", routes.pem().certificate, public_mode);
		write_certificate(folder, "route", routes.peer(hubs_.addresses[i].host));
	}
}

// Files of a relay that never change.
void FleetDirectory::write_relay(const Site &site, const Authority &authority) const
{
	const std::string folder = path_ + "/leafs/" + site.name;
	make_folder(folder);
	write_new(folder + "/ca.pem", authority.pem().certificate, public_mode);
	write_certificate(folder, "relay", authority.server(site.relay.host));
	write_certificate(folder, "leaf", authority.client(relay_user(site.name)));
	write_new(folder + "/nats.conf", relay_configuration(site, hubs_, leaf_port_), public_mode);
}

void FleetDirectory::remove_site(const std::string &name)
{
	const std::vector<std::string> hosts = site(name).hosts;
	for (const std::string &host : hosts) {
		replace_file(path_ + "/hosts/" + host + '/' + hub_file, hubs_.order_for(hosts_.size()) + "\n",
			     public_mode);
		hosts_.push_back(host);
	}
	std::erase_if(sites_, [&](const Site &site) { return site.name == name; });
	removed_sites_.push_back(name);
	write_lists();
}

// Written last: everything it names exists.
void FleetDirectory::write_lists() const
{
	std::string list;
	for (const std::string &host : all_hosts())
		list += host + "\n";
	const bool has_relays = !sites_.empty() || !removed_sites_.empty();
	for (std::size_t i = 0; i < hubs_.addresses.size(); ++i) {
		const std::string folder = path_ + '/' + Hubs::folder(i);
		replace_file(folder + "/users.conf", users_configuration(hosts_, sites_), public_mode);
		replace_file(folder + "/leafnodes.conf",
			     leafnodes_configuration(hubs_.addresses[i], leaf_port_, has_relays), public_mode);
	}
	for (const Site &site : sites_)
		replace_file(path_ + "/leafs/" + site.name + "/users.conf", relay_users_configuration(site),
			     public_mode);
	replace_file(path_ + "/operator/" + hosts_file, list, public_mode);
	replace_file(path_ + "/fleet.json", json(), public_mode);
}

std::string FleetDirectory::json() const
{
	auto sites = nlohmann::ordered_json::array();
	for (const Site &site : sites_)
		sites.push_back({{"site", site.name}, {"relay", site.relay.url()}, {"hosts", site.hosts}});
	const nlohmann::ordered_json json = {{"version", directory_version},
					     {"hub", hubs_text(hubs_.addresses)},
					     {"route_port", hubs_.route_port},
					     {"leaf_port", leaf_port_},
					     {"hosts", hosts_},
					     {"removed", removed_},
					     {"sites", std::move(sites)},
					     {"removed_sites", removed_sites_}};
	return json_dump(json, 1) + "\n";
}

} // namespace monitor::fleet
