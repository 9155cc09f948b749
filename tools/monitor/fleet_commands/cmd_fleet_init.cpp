// SPDX-License-Identifier: MIT
// `monitor fleet init`: creates the keys of a fleet, and prints where to copy them. fleet/keys/ does the work.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/ranges.h"
#include "cmd_fleet.h"
#include "common_options.h"
#include "fleet/keys/fleet_directory.h"

namespace monitor {
namespace {

constexpr std::size_t shown_hosts = 4;

struct InitArguments {
	std::string output = "fleet", leaf, relay, removed_leaf;
	unsigned leaf_port = 0, route_port = 0;
	std::vector<std::string> hubs, hosts, added, removed;
};

fleet::HubAddress address_of(const std::string &text, const char *option)
{
	const std::string url = text.find("://") == std::string::npos ? "tls://" + text : text;
	if (!url.starts_with("tls://"))
		throw Error("{}: a fleet speaks TLS: give HOST[:PORT]", option);
	return fleet::parse_hub(url);
}

void print_steps_of_hosts(const std::string &directory, const std::vector<std::string> &hosts)
{
	for (std::size_t i = 0; i < hosts.size() && i < shown_hosts; ++i)
		fmt::print("  scp -rp {}/hosts/{} root@{}:/etc/monitor/fleet\n"
			   "  ssh root@{} systemctl enable --now monitor-agent\n",
			   directory, hosts[i], hosts[i], hosts[i]);
	if (hosts.size() > shown_hosts)
		fmt::print("  ... and {} more, likewise\n", hosts.size() - shown_hosts);
}

// For a nats-server, the hub's or a relay's, whose files are in `folder`.
void print_steps_of_server(const std::string &folder, const std::string &server)
{
	fmt::print("  scp -rp {} root@{}:/etc/monitor/hub\n"
		   "  ssh root@{} chown -R nats: /etc/monitor/hub\n"
		   "  ssh root@{} systemctl enable --now monitor-hub\n"
		   "  (or, without systemd: cd {} && nats-server -c nats.conf)\n",
		   folder, server, server, server, folder);
}

const char *hub_or_hubs(const fleet::Hubs &hubs)
{
	return hubs.is_cluster() ? "hubs" : "hub";
}

std::string number_text(const std::vector<std::string> &hosts)
{
	return fmt::format("{} {}", hosts.size(), hosts.size() == 1 ? "host" : "hosts");
}

std::string hubs_to_print(const fleet::Hubs &hubs)
{
	const auto texts =
	    list_of<std::string>(hubs.addresses, [](const fleet::HubAddress &hub) { return hub.host_and_port(); });
	return fmt::format("the {} {}", hub_or_hubs(hubs), fmt::join(texts, ", "));
}

void print_steps(const fleet::FleetDirectory &made, const std::string &directory)
{
	const fleet::Hubs &hubs = made.hubs();
	fmt::print("keys and certificates of {} and {} are in {}\n"
		   "Who has {}/ca can add hosts, who has {}/operator can command them: keep both secret.\n\n",
		   number_text(made.hosts()), hubs_to_print(hubs), directory, directory, directory);
	fmt::print("1. the {}, with nats-server and monitor (/etc/monitor must exist)", hub_or_hubs(hubs));
	if (hubs.is_cluster())
		fmt::print("; they reach each other at port {}", hubs.route_port);
	fmt::print(":\n");
	for (std::size_t i = 0; i < hubs.addresses.size(); ++i)
		print_steps_of_server(directory + '/' + fleet::Hubs::folder(i), hubs.addresses[i].host);
	fmt::print("2. each host, with monitor:\n");
	print_steps_of_hosts(directory, made.hosts());
	fmt::print("3. here:\n"
		   "  export MONITOR_FLEET={}/operator\n"
		   "  monitor fleet status\n"
		   "  monitor fleet record --run first -d 10\n",
		   directory);
}

// Changes that a server applies on SIGHUP.
void print_reload(const std::string &folder, const std::string &server)
{
	fmt::print("  scp -p {}/users.conf root@{}:/etc/monitor/hub/users.conf\n"
		   "  ssh root@{} systemctl reload monitor-hub\n"
		   "  (or, without systemd: kill -HUP the nats-server)\n",
		   folder, server, server);
}

// The hub sends permissions when a relay connects: it must reconnect to get new ones.
void print_restart_of_relay(const fleet::Site &site, const std::string &path)
{
	fmt::print("then the relay of {}, whose hosts connect again:\n"
		   "  scp -p {}/leafs/{}/users.conf root@{}:/etc/monitor/hub/users.conf\n"
		   "  ssh root@{} systemctl restart monitor-hub\n"
		   "  (or, without systemd: end the nats-server and start it again)\n",
		   site.name, path, site.name, site.relay.host, site.relay.host);
}

void print_reloads(const fleet::Hubs &hubs, const std::string &path)
{
	for (std::size_t i = 0; i < hubs.addresses.size(); ++i)
		print_reload(path + '/' + fleet::Hubs::folder(i), hubs.addresses[i].host);
}

void print_reload_of_hub(const fleet::FleetDirectory &directory, const std::string &path)
{
	fmt::print("{} the new list of hosts, without cutting off the others, after\n",
		   directory.hubs().is_cluster() ? "the hubs load" : "the hub loads");
	print_reloads(directory.hubs(), path);
}

// A new port requires a restart.
void print_restarts(const fleet::Hubs &hubs, const std::string &path)
{
	for (std::size_t i = 0; i < hubs.addresses.size(); ++i) {
		const std::string folder = path + '/' + fleet::Hubs::folder(i), &server = hubs.addresses[i].host;
		fmt::print("  scp -p {}/users.conf {}/leafnodes.conf root@{}:/etc/monitor/hub/\n"
			   "  ssh root@{} systemctl restart monitor-hub\n",
			   folder, folder, server, server);
	}
	fmt::print("  (once, as it opens this port; hosts connect again, and send again what was on its way)\n");
}

int add_leaf(const InitArguments &arguments, const std::string &path)
{
	fleet::FleetDirectory directory(arguments.output);
	const auto print_changes = directory.sites().empty() ? print_restarts : print_reloads;
	directory.add_site({arguments.leaf, address_of(arguments.relay, "--relay"), arguments.hosts},
			   static_cast<std::uint16_t>(arguments.leaf_port));
	const fleet::Site &site = directory.site(arguments.leaf);
	fmt::print("keys and certificates of the relay {} and {} of the site {} are in {}\n"
		   "Who has {}/leafs/{} can send as every host of this site: keep it secret.\n\n"
		   "1. the {}, where relays connect to port {}:\n",
		   site.relay.host_and_port(), number_text(site.hosts), site.name, path, path, site.name,
		   hub_or_hubs(directory.hubs()), directory.leaf_port());
	print_changes(directory.hubs(), path);
	fmt::print("2. the relay, with nats-server and monitor (/etc/monitor must exist):\n");
	print_steps_of_server(fmt::format("{}/leafs/{}", path, site.name), site.relay.host);
	fmt::print("3. each host of the site, with monitor:\n");
	print_steps_of_hosts(path, site.hosts);
	return 0;
}

int remove_leaf(const InitArguments &arguments, const std::string &path)
{
	fleet::FleetDirectory directory(arguments.output);
	const std::vector<std::string> hosts = directory.site(arguments.removed_leaf).hosts;
	directory.remove_site(arguments.removed_leaf);
	print_reload_of_hub(directory, path);
	fmt::print("Until then the relay can still connect. Its {} hosts keep their keys, and connect to the hub "
		   "itself after\n",
		   hosts.size());
	for (std::size_t i = 0; i < hosts.size() && i < shown_hosts; ++i)
		fmt::print("  scp -p {}/hosts/{}/hub root@{}:/etc/monitor/fleet/hub\n"
			   "  ssh root@{} systemctl restart monitor-agent\n",
			   path, hosts[i], hosts[i], hosts[i]);
	if (hosts.size() > shown_hosts)
		fmt::print("  ... and {} more, likewise\n", hosts.size() - shown_hosts);
	return 0;
}

// The sites of these hosts.
std::vector<std::string> sites_of(const fleet::FleetDirectory &directory, const std::vector<std::string> &hosts)
{
	std::vector<std::string> names;
	for (const fleet::Site &site : directory.sites())
		if (std::ranges::any_of(hosts,
					[&](const auto &host) { return std::ranges::count(site.hosts, host) != 0; }))
			names.push_back(site.name);
	return names;
}

int change_hosts(const InitArguments &arguments, const std::string &path)
{
	if (!arguments.hubs.empty() || !arguments.hosts.empty())
		throw Error("--add and --remove change a fleet that exists: leave out --hub, and give each host its "
			    "own --add or --remove");
	fleet::FleetDirectory directory(arguments.output);
	std::vector<std::string> changed_sites = sites_of(directory, arguments.removed);
	if (!arguments.added.empty())
		directory.add(arguments.added, arguments.leaf);
	if (!arguments.removed.empty())
		directory.remove(arguments.removed);
	if (!arguments.added.empty()) {
		fmt::print("new hosts, with monitor:\n");
		print_steps_of_hosts(path, arguments.added);
		if (!arguments.leaf.empty() && std::ranges::count(changed_sites, arguments.leaf) == 0)
			changed_sites.push_back(arguments.leaf);
	}
	print_reload_of_hub(directory, path);
	for (const std::string &site : changed_sites)
		print_restart_of_relay(directory.site(site), path);
	if (!arguments.removed.empty())
		fmt::print("Until then {} can still connect. A connection that stands ends with the reload.\n",
			   fmt::join(arguments.removed, ", "));
	return 0;
}

int run_init(const InitArguments &arguments)
{
	const std::string path = printable(arguments.output);
	const bool changes = !arguments.added.empty() || !arguments.removed.empty();
	if (arguments.route_port && arguments.hubs.empty())
		throw Error("--route-port belongs to a new fleet with several hubs: give each its own --hub");
	if (!arguments.removed_leaf.empty()) {
		if (changes || !arguments.leaf.empty() || !arguments.hubs.empty() || !arguments.hosts.empty())
			throw Error("--remove-leaf stands alone: leave out what else is to be changed");
		return remove_leaf(arguments, path);
	}
	if (arguments.leaf.empty() && (!arguments.relay.empty() || arguments.leaf_port))
		throw Error("--relay and --leaf-port belong to a site: add --leaf SITE");
	if (changes && (!arguments.relay.empty() || arguments.leaf_port))
		throw Error("--relay and --leaf-port make a site: leave out --add and --remove, and name its hosts");
	if (changes)
		return change_hosts(arguments, path);
	if (!arguments.leaf.empty()) {
		if (!arguments.hubs.empty())
			throw Error("--leaf adds a site to a fleet that exists: leave out --hub");
		if (arguments.relay.empty())
			throw Error(
			    "--relay is missing: the name or address under which the site's hosts reach its relay");
		return add_leaf(arguments, path);
	}
	if (arguments.hubs.empty())
		throw Error("--hub is missing: the name or address under which hosts reach the hub");
	fleet::Hubs hubs;
	for (const std::string &hub : arguments.hubs)
		hubs.addresses.push_back(address_of(hub, "--hub"));
	if (arguments.route_port && !hubs.is_cluster())
		throw Error("--route-port is where several hubs reach each other: give each its own --hub");
	if (arguments.route_port)
		hubs.route_port = static_cast<std::uint16_t>(arguments.route_port);
	print_steps(fleet::FleetDirectory::make(arguments.output, hubs, arguments.hosts), path);
	return 0;
}

} // namespace

void add_fleet_init(CLI::App &fleet, int &exit_code)
{
	CLI::App *init = fleet.add_subcommand("init", "make the keys and certificates of a fleet");
	auto arguments = std::make_shared<InitArguments>();
	add_option(*init, "-o,--output", "DIR", arguments->output, "the directory for them (default: fleet)");
	add_option(*init, "--hub", "HOST[:PORT]", arguments->hubs,
		   "where hosts reach the hub (port: 4222); several: a cluster, whose hubs stand in for each other");
	add_option(*init, "--route-port", "PORT", arguments->route_port,
		   "where the hubs of a cluster reach each other (6222)")
	    ->check(CLI::Range(1, 65535));
	add_option(*init, "--add", "HOST", arguments->added, "add this host to a fleet that exists");
	add_option(*init, "--remove", "HOST", arguments->removed,
		   "remove this host: the hub refuses its certificate then");
	add_option(*init, "--leaf", "SITE", arguments->leaf,
		   "a site whose hosts reach the hub through a relay: make it, with --relay, or --add to it");
	add_option(*init, "--relay", "HOST[:PORT]", arguments->relay,
		   "where the hosts of this site reach its relay (port: 4222)");
	add_option(*init, "--leaf-port", "PORT", arguments->leaf_port,
		   "with the first site: where relays reach the hub (7422)")
	    ->check(CLI::Range(1, 65535));
	add_option(*init, "--remove-leaf", "SITE", arguments->removed_leaf,
		   "remove this site's relay: its hosts then are the hub's");
	add_option(*init, "hosts", "HOST...", arguments->hosts, "the hosts, as hostname(1) says on each");
	init->footer("Nothing is ever written over. It prints what to copy where.\n"
		     "Examples:\n"
		     "  monitor fleet init --hub hub.example.org web1 web2 db1\n"
		     "  monitor fleet init --hub hub1.example.org --hub hub2.example.org web1 web2\n"
		     "  monitor fleet init -o fleet --add web3\n"
		     "  monitor fleet init -o fleet --remove web1\n"
		     "  monitor fleet init --leaf paris --relay relay.paris.example.org p1 p2 p3\n"
		     "  monitor fleet init --leaf paris --add p4");
	init->callback([arguments, &exit_code] { exit_code = run_init(*arguments); });
}

} // namespace monitor
