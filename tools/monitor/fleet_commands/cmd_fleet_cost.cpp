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

// As text, two tables: what was measured, and what follows.
void print_costs(report::Table table, bool json)
{
	if (json)
		return print_table(table, report::Format::json);
	report::Table laws = table;
	drop_columns(table,
		     {"elapsed_ns", "messages_per_s", "cpu_ns_per_message", "cpu_percent", "hosts_at_100_percent"});
	print_table(table, report::Format::text);
	fmt::print("\nArithmetic by operational laws: messages/s times CPU per message = CPU %, of one CPU\n");
	drop_columns(laws, {"bytes", "messages", "cpu_ns", "cpu_ns_per_mib", "note"});
	print_table(laws, report::Format::text);
}

int run_cost(const CostArguments &arguments)
{
	const std::string file = arguments.run + "/.monitor/fleet.json";
	const auto accounts = parse_json(read_text(file, max_accounts_bytes));
	if (!accounts.is_object() || !accounts.contains("cost"))
		throw Error("{} is not a run of a fleet whose cost was measured: name the directory that `monitor "
			    "fleet record -o`, `fetch -o` or `collect -o` has made",
			    printable(arguments.run));
	print_costs(fleet_operator::cost_table(accounts), arguments.json);
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
	    "is `-`, and the note says why. Below, what follows by the operational laws: at what rate messages came, "
	    "what\n"
	    "each cost, which part of a CPU that is, and how many hosts as these would fill one CPU.\n"
	    "Examples:\n"
	    "  monitor fleet cost RUN\n"
	    "  monitor fleet cost --json RUN");
	cost->callback([arguments, &exit_code] { exit_code = run_cost(*arguments); });
}

} // namespace monitor
