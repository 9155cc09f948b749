// SPDX-License-Identifier: MIT
// `monitor fleet snapshot`: requests a snapshot from all flight recorders of a run, by a signed command, and waits
// until each is written. fleet/operator/ sends the command and collects the answers; on each host the privileged
// process passes the request to its recorder (fleet/agent/snapshot_commands.cpp).
#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/escape.h"
#include "cmd_fleet.h"
#include "common_options.h"
#include "fleet/operator/fleet_tables.h"
#include "fleet/wire/names.h"
#include "fleet_requests.h"
#include "print_table.h"
#include "record_commands/option_texts.h"

namespace monitor {
namespace {

using namespace std::chrono_literals;

constexpr auto snapshot_validity = 60s, first_answer_timeout = 5s, snapshot_timeout = 60s;
constexpr std::size_t max_why = 256;

struct FleetSnapshotRequest {
	FleetAccess access;
	std::string hosts = "*", run, why;
	bool json = false;
};

// The run of these hosts' flight recorders, if there is only one.
std::string only_flight_run(const FleetRequest &sent)
{
	std::set<std::string> runs;
	for (const auto &[host, seen] : sent.view.hosts())
		if (std::ranges::find(sent.hosts, host) != sent.hosts.end())
			for (const fleet::Presence::Run &run : seen.presence.runs)
				if (run.is_flight && run.state == "recording")
					runs.insert(run.name);
	if (runs.empty())
		throw Error("no flight recorder runs on these hosts: start one with `monitor fleet record --flight "
			    "--snapshots N`, or say which --run");
	if (runs.size() > 1)
		throw Error("the flight recorders on these hosts are of several runs: --run {}",
			    fmt::join(runs, " or "));
	return *runs.begin();
}

fleet::ControlMessage snapshot_message(const FleetSnapshotRequest &request, const FleetRequest &sent)
{
	fleet::ControlMessage message;
	message.kind = "snapshot";
	message.run = request.run.empty() ? only_flight_run(sent) : request.run;
	message.why = request.why;
	if (!fleet::is_run_name(message.run))
		throw Error("--run: '{}' is not the name of a run", printable(message.run));
	return message;
}

int run_fleet_snapshot(const FleetSnapshotRequest &request)
{
	if (request.why.size() > max_why || printable(request.why) != request.why)
		throw Error("--why: a line of at most {} bytes", max_why);
	FleetRequest sent(request.access, request.hosts);
	sent.send(snapshot_message(request, sent), sent.hosts, snapshot_validity, 0ns);
	sent.wait(first_answer_timeout, [](const auto &outcome) { return outcome.accepted || outcome.is_decided(); });
	sent.wait(snapshot_timeout, [](const auto &outcome) { return outcome.is_decided() || !outcome.accepted; });
	const fleet_operator::Outcomes all = sent.outcomes();
	print_table(fleet_operator::snapshot_table(all, sent.present), format_of(request.json));
	const auto is_taken = [](const auto &entry) {
		return entry.second.ended && entry.second.ended->exit_code == 0;
	};
	return std::ranges::all_of(all, is_taken) ? 0 : 1;
}

} // namespace

void add_fleet_snapshot(CLI::App &fleet, int &exit_code)
{
	CLI::App *snapshot = fleet.add_subcommand("snapshot", "take a snapshot with the flight recorders of a run");
	auto request = std::make_shared<FleetSnapshotRequest>();
	add_fleet_access(*snapshot, request->access);
	add_option(*snapshot, "--hosts", "PATTERN,...", request->hosts, "which ones (default: *)");
	add_option(*snapshot, "--run", "NAME", request->run, "the run (default: the only one of a flight recorder)");
	add_option(*snapshot, "--why", "TEXT", request->why, "what for, which the snapshots say");
	snapshot->add_flag("--json", request->json, "print JSON instead of text");
	snapshot->footer("It waits until each is written, and prints how long after the command was issued the host's\n"
			 "events were frozen, by the host's own clock. Exit code: 0, or 1 if a host took none.\n"
			 "Examples:\n"
			 "  monitor fleet snapshot\n"
			 "  monitor fleet snapshot --hosts 'web*' --run watch --why 'slow since 9:40'");
	snapshot->callback([request, &exit_code] {
		exit_code = exit_monitor_failed;
		exit_code = run_fleet_snapshot(*request);
	});
}

} // namespace monitor
