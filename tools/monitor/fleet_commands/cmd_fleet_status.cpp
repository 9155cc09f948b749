// SPDX-License-Identifier: MIT
// `monitor fleet status`: lists the hosts that are online, from their presence messages (fleet/operator/).
#include <algorithm>
#include <memory>

#include "cmd_fleet.h"
#include "fleet/operator/fleet_tables.h"
#include "fleet/operator/fleet_view.h"
#include "print_table.h"

namespace monitor {
namespace {

using namespace std::chrono_literals;

constexpr auto two_presences = 2200ms;           // for older or slow agents
constexpr auto min_settling = 400ms;             // to detect two agents of one name
constexpr auto status_presence_timeout = 1200ms; // for agents that do not answer a call

struct StatusArguments {
	FleetAccess access;
	bool json = false;
};

bool of_one_version(const fleet_operator::FleetView &view)
{
	return std::ranges::all_of(
	    view.hosts(), [](const auto &each) { return each.second.presence.monitor_version == MONITOR_VERSION; });
}

int run_status(const StatusArguments &arguments)
{
	OperatorSession session(arguments.access);
	fleet_operator::FleetView view(*session.connection);
	session.expect_connection();
	const auto called = fleet_operator::Clock::now();
	if (view.request_presence(session.hosts, two_presences))
		view.wait(std::max<std::chrono::milliseconds>(
			      of_one_version(view) ? min_settling : status_presence_timeout,
			      std::chrono::ceil<std::chrono::milliseconds>(fleet_operator::Clock::now() - called)),
			  [] { return false; });
	const auto seen = view.hosts();
	report::Table table = fleet_operator::status_table(seen, session.hosts);
	if (!arguments.json)
		drop_columns(table, {"boot_id", "session"});
	print_table(table, format_of(arguments.json));
	const bool all_there =
	    std::ranges::all_of(session.hosts, [&](const auto &host) { return seen.contains(host); });
	return all_there ? 0 : 1;
}

} // namespace

void add_fleet_status(CLI::App &fleet, int &exit_code)
{
	CLI::App *status = fleet.add_subcommand("status", "list the hosts and what they do");
	auto arguments = std::make_shared<StatusArguments>();
	add_fleet_access(*status, arguments->access);
	status->add_flag("--json", arguments->json, "print JSON instead of text");
	status->footer("Waits two seconds at most. Exit code: 0, or 1 if a host of the fleet does not answer.\n"
		       "Examples:\n  monitor fleet status\n  monitor fleet status --json --keys fleet/operator");
	status->callback([arguments, &exit_code] { exit_code = run_status(*arguments); });
}

} // namespace monitor
