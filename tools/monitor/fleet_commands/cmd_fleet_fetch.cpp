// SPDX-License-Identifier: MIT
// `monitor fleet fetch`: fetches traces that stayed on their hosts, or a time window of them; --list lists them. A
// signed command makes the hosts send; blocks are stored as by `fleet collect`.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/chrono.h>

#include "base/clock_ns.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/escape.h"
#include "cmd_fleet.h"
#include "common_options.h"
#include "fleet/operator/fleet_tables.h"
#include "fleet_fetch.h"
#include "print_table.h"
#include "problems.h"
#include "reading/events/time_text.h"
#include "termination.h"

namespace monitor {
namespace {

using namespace std::chrono_literals;

constexpr auto fetch_validity = 60s, fetch_answer_timeout = 5s, list_timeout = 4s;
constexpr const char *no_run = "_"; // the run of a command without one

struct FetchArguments {
	FleetAccess access;
	std::string hosts = "*", run, output, from, to;
	int hub_pid = 0;
	bool is_list = false, json = false;
};

// Waits until each present host has accepted or rejected the command.
void send_and_wait(FleetRequest &request, const fleet::ControlMessage &message)
{
	request.send(message, request.hosts, fetch_validity, 0ns);
	request.wait(fetch_answer_timeout,
		     [](const fleet_operator::Outcome &outcome) { return outcome.accepted || outcome.refused; });
}

int run_list(const FetchArguments &arguments)
{
	FleetRequest request(arguments.access, arguments.hosts);
	fleet::ControlMessage message;
	message.kind = "list";
	message.run = no_run;
	send_and_wait(request, message);
	std::set<std::string> accepting;
	for (const auto &[host, outcome] : request.outcomes())
		if (outcome.accepted)
			accepting.insert(host);
	const auto has_listed = [&](const std::string &host) {
		const auto hosts = request.view.hosts();
		const auto seen = hosts.find(host);
		return seen != hosts.end() && seen->second.presence.kept.has_value();
	};
	const bool all_listed =
	    request.view.wait(list_timeout, [&] { return std::ranges::all_of(accepting, has_listed); });
	report::Table table = fleet_operator::kept_table(request.view.hosts(), request.hosts, arguments.run);
	if (!arguments.json)
		drop_columns(table, {"begin_ns", "end_ns"}); // the same times as numbers
	print_table(table, format_of(arguments.json));
	const bool is_whole = all_listed && accepting.size() == request.hosts.size();
	if (!is_whole)
		print_error("not every host has answered: monitor fleet status");
	return is_whole ? 0 : 1;
}

// "30s ago", HH:MM[:SS[.FRACTION]] of the last 24 hours or "YYYY-MM-DD HH:MM[:SS[.FRACTION]]" in local time: ns since
// 1970; with `last`, the last ns that the text includes. Throws Error naming `option`.
std::uint64_t parse_moment(const std::string &text, const char *option, std::uint64_t now_ns, bool last)
{
	constexpr std::uint64_t almost_a_day_ns = 86'399'999'999'999;
	const std::string ago = " ago";
	if (text.ends_with(ago))
		return now_ns - parse_duration(text.substr(0, text.size() - ago.size()), option);
	const trace::Clock since_1970;
	if (text.find(':') != std::string::npos)
		try {
			return trace::parse_time(text, option, {since_1970, now_ns - almost_a_day_ns, now_ns}, last);
		} catch (const trace::TwiceShown &) {
			throw;
		} catch (const Error &) { // its message is about a trace
		}
	throw Error("{} {} is not a time, such as HH:MM[:SS], \"YYYY-MM-DD HH:MM[:SS]\" or '30s ago'", option,
		    printable(text));
}

fleet::ControlMessage fetch_message(const FetchArguments &arguments)
{
	const std::uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	fleet::ControlMessage message;
	message.kind = "fetch";
	message.run = arguments.run;
	if (!arguments.from.empty())
		message.from_ns = parse_moment(arguments.from, "--from", now_ns, false);
	if (!arguments.to.empty())
		message.to_ns = parse_moment(arguments.to, "--to", now_ns, true);
	if (message.to_ns && message.to_ns < message.from_ns)
		throw Error("--from {} is later than --to {}", arguments.from, arguments.to);
	return message;
}

int run_fetch(const FetchArguments &arguments)
{
	if (arguments.is_list)
		return run_list(arguments);
	if (arguments.run.empty() || arguments.output.empty())
		throw Error("what is fetched, and to where: add --run NAME and -o RUN; `monitor fleet fetch --list` "
			    "shows what hosts have");
	expect_run_name(arguments.run);
	fleet::ControlMessage message = fetch_message(arguments);
	Termination termination; // before there are threads
	FleetRequest request(arguments.access, arguments.hosts);
	FleetFetch fetch(request, arguments.run, arguments.output, arguments.hub_pid);
	message.store = fetch.store();
	send_and_wait(request, message);
	const std::vector<FleetFetch::Host> hosts = fetch.wait_until_fetched(termination);
	print_table(FleetFetch::table(hosts), format_of(arguments.json));
	const auto fetched = std::ranges::count(hosts, FleetFetch::State::fetched, &FleetFetch::Host::state);
	const auto without = std::ranges::count(hosts, FleetFetch::State::has_none, &FleetFetch::Host::state);
	return fetched > 0 && fetched + without == static_cast<std::ptrdiff_t>(hosts.size()) ? 0 : 1;
}

} // namespace

void add_fleet_fetch(CLI::App &fleet, int &exit_code)
{
	CLI::App *fetch = fleet.add_subcommand("fetch", "bring traces that stayed on their hosts here");
	auto arguments = std::make_shared<FetchArguments>();
	add_fleet_access(*fetch, arguments->access);
	add_option(*fetch, "--hosts", "PATTERN,...", arguments->hosts, "which ones (default: *)");
	add_option(*fetch, "--run", "NAME", arguments->run, "the name of the run");
	add_option(*fetch, "-o,--output", "RUN", arguments->output,
		   "directory of the run; to one from before, what is new is added");
	add_option(*fetch, "--from", "TIME", arguments->from,
		   "only what was recorded from then on, by each host's clock: a local time, or '30s ago'");
	add_option(*fetch, "--to", "TIME", arguments->to, "only what was recorded until then");
	add_option(*fetch, "--hub-pid", "PID", arguments->hub_pid,
		   "the server's process, if it is on this machine, for `monitor fleet cost`")
	    ->check(CLI::PositiveNumber);
	fetch->add_flag("--list", arguments->is_list, "only list what hosts have");
	fetch->add_flag("--json", arguments->json, "print JSON instead of text");
	fetch->footer("For runs that were recorded with --forward on-demand, and others that nobody has collected.\n"
		      "What was not fetched stays on its host, and readers of RUN say that it is missing.\n"
		      "Exit code: 0 if all hosts that have the run have sent it, else 1.\n"
		      "Examples:\n"
		      "  monitor fleet fetch --list\n"
		      "  monitor fleet fetch --run day -o RUN --from 14:05 --to 14:06\n"
		      "  monitor fleet fetch --run day -o RUN --hosts 'web*' --from '30s ago'");
	fetch->callback([arguments, &exit_code] { exit_code = run_fetch(*arguments); });
}

} // namespace monitor
