// SPDX-License-Identifier: MIT
// `monitor fleet`: many hosts recorded as one.
#include "commands.h"
#include "cmd_fleet.h"

namespace monitor {

void add_fleet(CLI::App &app, int &exit_code)
{
	CLI::App *fleet = app.add_subcommand("fleet", "bring traces of many hosts together over a NATS server");
	fleet->require_subcommand(1);
	add_fleet_collect(*fleet, exit_code);
	add_fleet_push(*fleet, exit_code);
	fleet->footer(
	    "Examples:\n"
	    "  monitor fleet collect -o RUN --hub tls://hub --ca ca.pem --cert collector.pem --key collector.key\n"
	    "  monitor fleet push DIR --hub tls://hub --ca ca.pem --cert web1.pem --key web1.key\n"
	    "  monitor report RUN");
}

} // namespace monitor
