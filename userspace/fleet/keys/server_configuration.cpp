// SPDX-License-Identifier: MIT
#include "server_configuration.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.h"
#include "fleet/wire/names.h"
#include "fleet_keys.h"

namespace monitor::fleet {
namespace {

constexpr const char *written_by = "written by `monitor fleet init`";

bool is_loopback(const std::string &host)
{
	return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Where a server listens that others reach at this address.
std::string listen_address(const HubAddress &at)
{
	return is_loopback(at.host) ? at.host_and_port() : fmt::format("0.0.0.0:{}", at.port);
}

std::string tls_section(const char *certificate)
{
	return fmt::format("tls {{\n\tcert_file: \"{}.pem\"\n\tkey_file: \"{}.key\"\n\tca_file: \"ca.pem\"\n"
			   "\tverify_and_map: true\n\ttimeout: 5\n}}\n",
			   certificate, certificate);
}

std::string server_text(const std::string &what, const HubAddress &at, const std::string &name, const char *certificate)
{
	return fmt::format(R"(# {}, for nats-server 2.9 or later; {}.
# Start it in this directory: nats-server -c nats.conf. After users.conf has changed, SIGHUP loads it again.
listen: "{}"
server_name: "{}"

# Only certificates of this fleet's authority; the name in one is the user.
{}include "users.conf"

# A message has at most 256 KiB of blocks and a header; what does not take its messages for 10 s is cut off. A thousand
# hosts may each have a message on its way to one collector.
max_payload: 1MB
max_pending: 512MB
write_deadline: "10s"
)",
			   what, written_by, listen_address(at), name, tls_section(certificate));
}

using Subjects = std::vector<std::string>;

Subjects sent_by_all()
{
	Subjects subjects;
	for (const char *const kind : host_kinds)
		subjects.push_back(fmt::format("m.{}.*", kind));
	for (const char *const kind : stored_kinds)
		subjects.push_back(shard_subject(kind, {}));
	return subjects;
}

Subjects sent_by(const std::string &host)
{
	Subjects subjects;
	for (const char *const kind : host_kinds)
		subjects.push_back(subject_of(kind, host));
	for (const char *const kind : stored_kinds)
		subjects.push_back(stored_subject_of(kind, host));
	return subjects;
}

Subjects received_by_all()
{
	return {"m.ctl.*", "_INBOX.>"};
}

Subjects received_by(const std::string &host)
{
	return {subject_of("ctl", host), "_INBOX." + subject_of("", host).substr(3) + ".>"}; // "m..HOST"
}

std::string in_quotes(const Subjects &subjects)
{
	const auto texts =
	    list_of<std::string>(subjects, [](const std::string &subject) { return '"' + subject + '"'; });
	return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string exports(const Subjects &subjects)
{
	std::string text = "\t\texports: [\n";
	for (const std::string &subject : subjects)
		text += fmt::format("\t\t\t{{ stream: \"{}\" }}\n", subject);
	return text + "\t\t]\n";
}

// `m.fired.HOST`, from a host to all others, passes between accounts under other names: a server refuses configurations
// with cyclic imports. Hosts use only the first name.
constexpr const char *own_fired = "m.fired.*", *site_fired = "m.near.*", *remote_fired = "m.afar.*";

std::string renamed_import(const std::string &from, const std::string &subject, const std::string &to)
{
	return fmt::format("\t\t\t{{ stream: {{ account: \"{}\", subject: \"{}\" }}, to: \"{}\" }}\n", from, subject,
			   to);
}

Subjects with(Subjects subjects, const Subjects &more)
{
	subjects.insert(subjects.end(), more.begin(), more.end());
	return subjects;
}

std::string import_lines(const std::string &from, const Subjects &subjects)
{
	std::string text;
	for (const std::string &subject : subjects)
		text += fmt::format("\t\t\t{{ stream: {{ account: \"{}\", subject: \"{}\" }} }}\n", from, subject);
	return text;
}

std::string user(const std::string &name, const char *connection, const Subjects &publish, const Subjects &deny,
		 const Subjects &subscribe)
{
	const std::string denied = deny.empty() ? "" : ", deny: " + in_quotes(deny);
	return fmt::format("\t\t\t{{ user: \"{}\", allowed_connection_types: [\"{}\"], permissions: {{ publish: {{ "
			   "allow: {}{} }}, subscribe: {{ allow: {} }} }} }}\n",
			   name, connection, in_quotes(publish), denied, in_quotes(subscribe));
}

// A host needs few subscriptions; many would burden the server.
constexpr const char *few_subscriptions = "\t\tlimits { max_subscriptions: 256 }\n";

// The account of hosts that connect to this server; `to`: the account at the other end; `more`: imports.
std::string hosts_account(const std::vector<std::string> &hosts, const char *to, const std::string &more)
{
	std::string text = "\tHOSTS {\n" + std::string(few_subscriptions) + "\t\tusers: [\n";
	for (const std::string &host : hosts)
		text += user(host, "STANDARD", {subject_of("*", host), stored_subject_of("*", host)}, {"m.ctl.>"},
			     with({"m.ctl.all", own_fired}, received_by(host)));
	return text + "\t\t]\n" + exports(with(sent_by_all(), {own_fired})) + "\t\timports: [\n" +
	       import_lines(to, received_by_all()) + more + "\t\t]\n\t}\n";
}

std::string account_of(const Site &site)
{
	return "SITE_" + site.name;
}

// A leaf node can send for the site's hosts only if each is named here.
std::string site_fired_imports(const std::vector<Site> &sites)
{
	std::string text;
	for (const Site &site : sites)
		for (const std::string &host : site.hosts)
			text += renamed_import(account_of(site), subject_of("near", host), subject_of("fired", host));
	return text;
}

// The subjects before and after an import are compared with the permissions of a leaf node. From other sites everything
// is accepted, as hosts times sites would be too many lines: so a relay can use any host's name in messages to other
// sites.
std::string site_account(const Site &site, const std::vector<Site> &sites)
{
	Subjects subscribe = {"m.ctl.all", own_fired, site_fired, remote_fired};
	for (const std::string &host : site.hosts)
		subscribe = with(std::move(subscribe), received_by(host));
	std::string imports =
	    import_lines("FLEET", received_by_all()) + renamed_import("HOSTS", own_fired, "m.afar.$1");
	for (const Site &other : sites)
		if (other.name != site.name)
			imports += renamed_import(account_of(other), site_fired, "m.afar.$1");
	return fmt::format("\t\"{}\" {{\n\t\tusers: [\n{}\t\t]\n{}\t\timports: [\n{}\t\t]\n\t}}\n", account_of(site),
			   user(relay_user(site.name), "LEAFNODE", {"m.>"}, {"m.ctl.>"}, subscribe),
			   exports(with(sent_by_all(), {site_fired})), imports);
}

// Routes between the hubs: what a client sends to one of them reaches clients of all. A server of the cluster may send
// anything, so host certificates are not accepted here.
std::string cluster_text(const Hubs &hubs, std::size_t number)
{
	const auto at = [&](const HubAddress &hub) { return HubAddress{true, hub.host, hubs.route_port}; };
	Subjects routes;
	for (std::size_t other = 0; other < hubs.addresses.size(); ++other)
		if (other != number)
			routes.push_back("nats-route://" + at(hubs.addresses[other]).host_and_port());
	return fmt::format(R"(
# The hubs are a cluster.
cluster {{
	name: "fleet"
	listen: "{}"
	tls {{
		cert_file: "route.pem"
		key_file: "route.key"
		ca_file: "routes-ca.pem"
		verify: true
		timeout: 5
	}}
	routes: {}
	no_advertise: true
	connect_retries: 1000000
}}
)",
			   listen_address(at(hubs.addresses[number])), in_quotes(routes));
}

std::string do_not_edit(const char *what)
{
	return fmt::format("# {}; {}, again with each change: do not edit.\n", what, written_by);
}

} // namespace

std::string hub_configuration(const Hubs &hubs, std::size_t number)
{
	const HubAddress &hub = hubs.addresses[number];
	const char *const what = hubs.is_cluster() ? "A hub of a fleet" : "The hub of a fleet";
	return server_text(what, hub, "fleet-" + Hubs::folder(number), "hub") + "include \"leafnodes.conf\"\n" +
	       (hubs.is_cluster() ? cluster_text(hubs, number) : "");
}

std::string leafnodes_configuration(const HubAddress &hub, std::uint16_t leaf_port, bool has_sites)
{
	const std::string head = do_not_edit("Where relays of sites connect");
	if (!has_sites)
		return head + "# There are none.\n";
	return head + fmt::format("leafnodes {{\nlisten: \"{}\"\n{}}}\n", listen_address({true, hub.host, leaf_port}),
				  tls_section("hub"));
}

std::string users_configuration(const std::vector<std::string> &hosts, const std::vector<Site> &sites)
{
	std::string text = do_not_edit("Who may connect") +
			   "accounts {\n\t# The operator and the collectors.\n"
			   "\tFLEET {\n" +
			   few_subscriptions + "\t\tusers: [\n" +
			   user(operator_name, "STANDARD", received_by_all(), {}, {"m.*.*", shard_subject("*", {})}) +
			   "\t\t]\n" + exports(received_by_all()) + "\t\timports: [\n" +
			   import_lines("HOSTS", with(sent_by_all(), {own_fired})) + site_fired_imports(sites);
	for (const Site &site : sites)
		for (const std::string &host : site.hosts)
			text += import_lines(account_of(site), sent_by(host));
	text += "\t\t]\n\t}\n\t# Hosts that connect to the hub itself.\n" +
		hosts_account(hosts, "FLEET", site_fired_imports(sites));
	for (const Site &site : sites)
		text += site_account(site, sites);
	return text + "}\n";
}

std::string relay_configuration(const Site &site, const Hubs &hubs, std::uint16_t leaf_port)
{
	Subjects urls;
	for (const HubAddress &hub : hubs.addresses)
		urls.push_back(HubAddress{true, hub.host, leaf_port}.url());
	return server_text("The relay of the site " + site.name, site.relay, "fleet-relay-" + site.name, "relay") +
	       fmt::format(R"(
# It is a leaf node of the hub.
leafnodes {{
	remotes: [
		{{
			urls: {}
			account: "HUB"
			tls {{
				cert_file: "leaf.pem"
				key_file: "leaf.key"
				ca_file: "ca.pem"
			}}
		}}
	]
}}
)",
			   in_quotes(urls));
}

std::string relay_users_configuration(const Site &site)
{
	return do_not_edit("Who may connect") + "accounts {\n\t# The hub.\n\tHUB {\n" +
	       exports(with(received_by_all(), {remote_fired})) + "\t\timports: [\n" +
	       import_lines("HOSTS", sent_by_all()) + renamed_import("HOSTS", own_fired, "m.near.$1") + "\t\t]\n\t}\n" +
	       hosts_account(site.hosts, "HUB", renamed_import("HUB", remote_fired, "m.fired.$1")) + "}\n";
}

} // namespace monitor::fleet
