// SPDX-License-Identifier: MIT
// `monitor agent`: this host as one of a fleet. fleet/agent/ does the work.
#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/escape.h"
#include "commands.h"
#include "common_options.h"
#include "fleet/agent/agent.h"
#include "fleet/wire/allowed_options.h"
#include "record_commands/option_texts.h"

namespace monitor {
namespace {

struct AgentArguments {
	agent::AgentOptions options;
	std::string spool_max, allow, forward = "batch";
};

// Every option and permission that fleet commands may use.
std::vector<std::string> everything_allowed()
{
	std::vector<std::string> all = fleet::all_options();
	all.emplace_back(fleet::snapshot_all_permission);
	return all;
}

std::set<std::string> allowed_options(const std::string &list)
{
	const std::vector<std::string> all = everything_allowed();
	if (list.empty())
		return {all.begin(), all.end()};
	std::set<std::string> allowed;
	for (const std::string &name : split(list)) {
		if (std::ranges::find(all, name) == all.end())
			throw Error("--allow: '{}' is not an option that hosts can be asked for; these are {}",
				    printable(name), fmt::join(all, ", "));
		allowed.insert(name);
	}
	return allowed;
}

int run_agent(AgentArguments &arguments)
{
	agent::AgentOptions &options = arguments.options;
	if (!arguments.spool_max.empty())
		options.spool_max_bytes = parse_bytes(arguments.spool_max, "--spool-max");
	options.allow = allowed_options(arguments.allow);
	options.forward = *fleet::parse_forward(arguments.forward);
	options.version = MONITOR_VERSION;
	return agent::run_agent(options);
}

} // namespace

void add_agent(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("agent", "let the operator of a fleet record this host");
	auto arguments = std::make_shared<AgentArguments>();
	agent::AgentOptions &options = arguments->options;
	add_option(*command, "--keys", "DIR", options.keys,
		   "this host's directory of those that `monitor fleet init` made (default: /etc/monitor/fleet)");
	add_option(*command, "--hub", "tls://HUB[:PORT],...", options.hub,
		   "the NATS server (default: as the keys say)");
	add_option(*command, "--spool", "DIR", options.spool,
		   "where traces are (default: /var/lib/monitor-agent; without root, below ~/.local/state)");
	add_option(*command, "--spool-max", "SIZE", arguments->spool_max, "what they may take together (default: 10G)");
	add_option(*command, "--forward", "HOW", arguments->forward,
		   "when traces travel, unless a command says it: batch, as they are recorded; each, the same block by "
		   "block; on-demand, when they are fetched (default: batch)")
	    ->check(CLI::IsMember(
		std::vector<std::string>(std::begin(fleet::forward_names), std::end(fleet::forward_names))));
	add_option(*command, "--allow", "OPTION,...", arguments->allow,
		   fmt::format("options of monitor record that commands may have (default: {})",
			       fmt::join(everything_allowed(), ",")));
	add_option(*command, "--allow-commands", "USER", options.allow_commands,
		   "also run programs that the operator asks for, as this user (default: none)");
	add_option(*command, "--user", "USER", options.user,
		   "the user that speaks with the network (default: monitor-agent, else nobody)");
	add_option(*command, "--host", "NAME", options.host, "this host's name in the fleet (default: its hostname)");
	command->footer(
	    "Started by root, one process keeps the privileges, has no network, and starts `monitor record` for\n"
	    "commands that the operator has signed; another one speaks with the hub and has no privilege. Started by\n"
	    "others it records programs' own events (monitor fleet record --user-only). It runs until SIGTERM.\n"
	    "Examples:\n"
	    "  sudo monitor agent\n"
	    "  sudo monitor agent --spool /data/spool --spool-max 50G --allow events,filter,duration\n"
	    "  sudo monitor agent --forward on-demand\n"
	    "  monitor agent --keys fleet/hosts/web1 --host web1 --spool spool");
	command->callback([arguments, &exit_code] {
		if (arguments->options.keys.empty())
			arguments->options.keys = "/etc/monitor/fleet";
		exit_code = run_agent(*arguments);
	});
}

} // namespace monitor
