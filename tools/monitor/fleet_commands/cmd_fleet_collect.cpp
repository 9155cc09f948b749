// SPDX-License-Identifier: MIT
// `monitor fleet collect`: stores what hosts send, until interrupted. fleet/collector/ does the work.
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "cmd_fleet.h"
#include "common_options.h"
#include "fleet/collector/collector_service.h"
#include "fleet/wire/names.h"
#include "fleet_clocks.h"
#include "hub_options.h"
#include "problems.h"
#include "termination.h"

namespace monitor {
namespace {

struct CollectArguments {
	HubArguments hub;
	std::string output, run, shard = "0/1";
	int hub_pid = 0;
	bool json = false;
};

void print_collected(const nlohmann::ordered_json &accounts)
{
	for (const auto &host : accounts["hosts"]) {
		const auto number = [&](const char *member) { return host[member].get<std::uint64_t>(); };
		fmt::print("{:<20} {} traces, {} blocks stored, {} again, {} conflicts",
			   host["host"].get<std::string>(), host["traces"].size(), number("blocks"), number("repeated"),
			   number("conflicts"));
		if (number("conflicts") > number("conflicts_kept"))
			fmt::print(" ({} of them kept)", number("conflicts_kept"));
		for (const auto &[why, messages] : host["refused"].items())
			fmt::print("; {} messages refused: {}", messages.get<std::uint64_t>(), printable(why));
		fmt::print("\n");
	}
}

int run_collect(const CollectArguments &arguments)
{
	if (!arguments.run.empty())
		expect_run_name(arguments.run);
	const auto shard = fleet::parse_shard(arguments.shard);
	if (!shard)
		throw Error("--shard: K/N, where N is 1, 2, 4, ... {} and K from 0 to N-1, not '{}'", fleet::max_shards,
			    printable(arguments.shard));
	Termination termination;
	std::string name;
	const fleet::ConnectionOptions hub = arguments.hub.connection(name);
	fleet::CollectorService service(
	    hub, arguments.output, arguments.run, [](const std::string &sentence) { print_error(sentence); }, *shard,
	    arguments.hub_pid);
	while (!termination.wait(std::chrono::milliseconds(1000)))
		service.save();
	service.stop();
	service.collector().save();
	if (shard->number == 0) // shard 0 has the clock exchanges of all hosts
		write_fleet_clocks(arguments.output);
	const auto accounts = service.collector().accounts();
	if (arguments.json)
		fmt::print("{}\n", json_dump(accounts, 1));
	else
		print_collected(accounts);
	return 0;
}

} // namespace

void add_fleet_collect(CLI::App &fleet, int &exit_code)
{
	CLI::App *collect =
	    fleet.add_subcommand("collect", "store what hosts send, as one collection of traces, until ended");
	auto arguments = std::make_shared<CollectArguments>();
	arguments->hub.files.name = "monitor collector";
	add_option(*collect, "-o,--output", "RUN", arguments->output,
		   "directory of the run; one from before is continued")
	    ->required();
	add_option(*collect, "--run", "NAME", arguments->run,
		   "take only what was recorded under this name (default: everything)");
	add_option(*collect, "--shard", "K/N", arguments->shard,
		   "take only part K of N of the hosts, by their names; another collector takes each other part");
	add_hub_options(*collect, arguments->hub);
	add_option(*collect, "--hub-pid", "PID", arguments->hub_pid,
		   "the server's process, if it is on this machine, for `monitor fleet cost`")
	    ->check(CLI::PositiveNumber);
	collect->add_flag("--json", arguments->json, "print the accounts at the end as JSON");
	collect->footer("It runs until SIGINT or SIGTERM. RUN/.monitor/fleet.json has the accounts, every second.\n"
			"Examples:\n"
			"  monitor fleet collect -o RUN --keys fleet/operator\n"
			"  monitor fleet collect -o part0 --shard 0/4 --keys fleet/operator");
	collect->callback([arguments, &exit_code] { exit_code = run_collect(*arguments); });
}

} // namespace monitor
