// SPDX-License-Identifier: MIT
// `monitor fleet cost`: the cost of transferring a run, from its collector's accounts.
#include <memory>
#include <string>

#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/json.h"
#include "cmd_fleet.h"
#include "common_options.h"
#include "fleet/operator/cost_table.h"
#include "print_table.h"

namespace monitor {
namespace {

constexpr std::size_t max_accounts_bytes = 256u << 20;

struct CostArguments {
	std::string run;
	bool json = false;
};

int run_cost(const CostArguments &arguments)
{
	const std::string file = arguments.run + "/.monitor/fleet.json";
	const auto accounts = parse_json(read_text(file, max_accounts_bytes));
	if (!accounts.is_object() || !accounts.contains("cost"))
		throw Error("{} is not a run of a fleet whose cost was measured: name the directory that `monitor "
			    "fleet record -o`, `fetch -o` or `collect -o` has made",
			    printable(arguments.run));
	print_table(fleet_operator::cost_table(accounts), format_of(arguments.json));
	return 0;
}

} // namespace

void add_fleet_cost(CLI::App &fleet, int &exit_code)
{
	CLI::App *cost = fleet.add_subcommand("cost", "show what it has cost to bring a run here");
	auto arguments = std::make_shared<CostArguments>();
	add_option(*cost, "run", "RUN", arguments->run, "directory of the run")->required();
	cost->add_flag("--json", arguments->json, "print JSON instead of text");
	cost->footer(
	    "CPU time and bytes while the collector ran: of the network process of each agent, of the\n"
	    "server (with --hub-pid, at fleet record, fetch and collect) and of the collector. What was not measured\n"
	    "is empty, and the note says why.\n"
	    "Examples:\n"
	    "  monitor fleet cost RUN\n"
	    "  monitor fleet cost --json RUN");
	cost->callback([arguments, &exit_code] { exit_code = run_cost(*arguments); });
}

} // namespace monitor
