// SPDX-License-Identifier: MIT
// `monitor fleet`: many hosts recorded as one. Each verb has a file of its own (cmd_fleet.h).
#include "cmd_fleet.h"

#include <cstdlib>

#include "base/error.h"
#include "base/escape.h"
#include "commands.h"
#include "common_options.h"
#include "fleet/wire/hub.h"
#include "fleet/wire/names.h"
#include "problems.h"

namespace monitor {
namespace {

using namespace std::chrono_literals;

constexpr auto extra_connect_time = 2s; // after unsuccessful attempts to connect

std::string keys_directory(const std::string &given)
{
	const char *const variable = std::getenv("MONITOR_FLEET");
	if (given.empty() && (!variable || !*variable))
		throw Error("which fleet: add --keys DIR, or set MONITOR_FLEET, to the directory `operator` that "
			    "`monitor fleet init` made");
	return given.empty() ? variable : given;
}

fleet::FleetKeys operator_keys(const std::string &directory)
{
	fleet::FleetKeys keys = fleet::read_fleet_keys(directory);
	if (keys.name != fleet::operator_name)
		throw Error(
		    "{} has the keys of host {}: use the operator's, DIR/operator of what `monitor fleet init` made",
		    printable(directory), keys.name);
	return keys;
}

std::set<std::string> hosts_of(const std::string &directory)
{
	const std::vector<std::string> hosts = fleet::read_hosts(directory);
	return {hosts.begin(), hosts.end()};
}

} // namespace

void expect_run_name(const std::string &run)
{
	if (!fleet::is_run_name(run))
		throw Error("--run: a name has letters, digits, '.', '_' and '-', at most 64");
}

void add_fleet_access(CLI::App &verb, FleetAccess &access)
{
	add_option(verb, "--keys", "DIR", access.keys,
		   "the operator's directory of `monitor fleet init` (default: MONITOR_FLEET)");
	add_option(verb, "--hub", "tls://HUB[:PORT],...", access.hub, "the NATS server (default: as the keys say)");
}

OperatorSession::OperatorSession(const FleetAccess &access)
    : keys(operator_keys(keys_directory(access.keys))), connection_options(keys.connection(access.hub)),
      hosts(hosts_of(keys.directory))
{
	fleet::Connection::Events events;
	events.error = [](const std::string &error) { print_error(error); };
	connection = std::make_unique<fleet::Connection>(connection_options, std::move(events));
}

std::chrono::milliseconds OperatorSession::connect_timeout() const
{
	return extra_connect_time + fleet::parse_hubs(connection_options.hub).size() * connection_options.timeout;
}

void OperatorSession::expect_connection() const
{
	if (connection->wait_until_connected(connect_timeout()))
		return;
	const std::string problem = connection->problem();
	throw Error(problem.empty() ? "the hub does not answer: is nats-server running there?" : problem);
}

void add_fleet(CLI::App &app, int &exit_code)
{
	CLI::App *fleet = app.add_subcommand("fleet", "record many hosts as one");
	for (AddVerb *add : {add_fleet_init, add_fleet_status, add_fleet_record, add_fleet_stop, add_fleet_snapshot,
			     add_fleet_fetch, add_fleet_collect, add_fleet_cost, add_fleet_push})
		add(*fleet, exit_code);
	fleet->require_subcommand(1);
	fleet->footer("On each host runs `monitor agent`; between them a NATS server, the hub, that commands nobody:\n"
		      "commands are signed by the operator's key.\n"
		      "Examples:\n"
		      "  monitor fleet init --hub hub.example.org web1 web2\n"
		      "  monitor fleet status\n"
		      "  monitor fleet record --hosts 'web*' --run night -d 60\n"
		      "  monitor fleet stop --run night\n"
		      "  monitor fleet snapshot --why 'slow since 9:40'");
}

} // namespace monitor
