// SPDX-License-Identifier: MIT
#include "server_configuration.h"

#include <fmt/format.h>

#include "base/fleet/fleet_keys.h"
#include "base/fleet/names.h"

namespace monitor::fleet_setup {
namespace {

bool is_loopback(const std::string &host)
{
	return host == "localhost" || host == "::1" || host.starts_with("127.");
}

} // namespace

std::string server_configuration(const fleet::HubAddress &hub)
{
	const std::string listen = is_loopback(hub.host) ? hub.host_and_port() : fmt::format("0.0.0.0:{}", hub.port);
	return fmt::format(R"(# The hub of a fleet, for nats-server 2.9 or later; written by `monitor fleet init`.
# Start it in this directory: nats-server -c nats.conf. After users.conf has changed, SIGHUP loads it again.
listen: "{}"
server_name: "fleet-hub"

# Only certificates of this fleet's authority; the name in one is the user.
tls {{
	cert_file: "hub.pem"
	key_file: "hub.key"
	ca_file: "ca.pem"
	verify_and_map: true
	timeout: 5
}}
authorization {{
	include "users.conf"
}}

# A message has at most 256 KiB of blocks and a header; what does not take its messages for 10 s is cut off.
max_payload: 1MB
max_pending: 64MB
max_subscriptions: 256
write_deadline: "10s"
)",
			   listen);
}

std::string users_configuration(const std::vector<std::string> &hosts)
{
	std::string text = "# Written by `monitor fleet init`, again with --add and --remove: do not edit.\nusers: [\n";
	text +=
	    fmt::format("\t{{ user: \"{}\", permissions: {{ publish: {{ allow: [\"m.ctl.*\"] }}, subscribe: {{ allow: "
			"[\"m.*.*\"] }}, allow_responses: {{ max: 16, expires: \"10m\" }} }} }}\n",
			fleet::operator_name);
	for (const std::string &host : hosts) {
		const std::string token = fleet::subject_of("", host).substr(3);
		text += fmt::format(
		    "\t{{ user: \"{}\", permissions: {{ publish: {{ allow: [\"m.*.{}\"], deny: [\"m.ctl.>\"] "
		    "}}, subscribe: {{ allow: [\"m.ctl.all\", \"m.ctl.{}\", \"m.fired.*\", \"_INBOX.{}.>\"] }} }} }}\n",
		    host, token, token, token);
	}
	return text + "]\n";
}

} // namespace monitor::fleet_setup
