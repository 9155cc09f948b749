// SPDX-License-Identifier: MIT
// `monitor fleet record` and `stop`: sends a signed command to hosts, and shows its outcome on each. fleet/operator/
// sends it and collects the answers; the hosts' privileged processes decide (fleet/agent/).
#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/date_text.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/escape.h"
#include "cmd_fleet.h"
#include "common_options.h"
#include "fleet/operator/command.h"
#include "fleet/operator/fleet_tables.h"
#include "fleet/wire/allowed_options.h"
#include "fleet/wire/forward.h"
#include "fleet/wire/names.h"
#include "fleet_follow.h"
#include "fleet_requests.h"
#include "print_table.h"
#include "problems.h"
#include "record_commands/option_texts.h"
#include "termination.h"

namespace monitor {
namespace {

using namespace std::chrono_literals;

constexpr auto validity = 60s, answer_timeout = 5s, start_timeout = 20s;
constexpr auto presence_timeout = 1200ms;
constexpr double max_lead_s = 500;

struct RecordRequest {
	FleetAccess access;
	std::string hosts = "*", run, output, lead = "1s", command_host;
	std::string events, filter, statistics, keep, max_size, note, forward;
	std::optional<std::string> flight;
	std::vector<std::string> triggers, command;
	std::optional<double> duration_s;
	unsigned snapshots = 0;
	int hub_pid = 0;
	bool count_only = false, user = false, user_only = false, no_calibration = false, json = false;
	bool snapshot_all = false;
};

struct StopRequest {
	FleetAccess access;
	std::string hosts = "*", run;
	bool json = false;
};

// As fleet/wire/allowed_options.h takes them.
nlohmann::json options_of(const RecordRequest &request)
{
	nlohmann::json options = nlohmann::json::object();
	const auto text = [&](const char *name, const std::string &value) {
		if (!value.empty())
			options[name] = value;
	};
	const auto flag = [&](const char *name, bool value) {
		if (value)
			options[name] = true;
	};
	text("events", request.events);
	text("filter", request.filter);
	text("statistics", request.statistics);
	text("keep", request.keep);
	text("note", request.note);
	if (request.flight)
		options["flight"] = request.flight->empty() ? "64M" : *request.flight;
	if (request.duration_s)
		options["duration"] = *request.duration_s;
	if (!request.triggers.empty())
		options["trigger"] = request.triggers;
	if (request.snapshots)
		options["snapshots"] = request.snapshots;
	if (!request.max_size.empty())
		options["max-size"] = parse_bytes(request.max_size, "--max-size");
	flag("count-only", request.count_only);
	flag("user", request.user);
	flag("user-only", request.user_only);
	flag("no-calibration", request.no_calibration);
	return options;
}

// Refuses what every host would refuse.
void expect_allowed(const nlohmann::json &options)
{
	const fleet::Allowed all{{fleet::all_options().begin(), fleet::all_options().end()}, ~0ull, false};
	if (const std::string refusal = fleet::allowed_words(options, all).refusal; !refusal.empty())
		throw Error("hosts would refuse this: " + refusal);
}

void expect_flight(const RecordRequest &request)
{
	if (request.events == "help")
		throw Error("-e help: `monitor record -e help` says what there is on a host");
	if (request.snapshot_all && !request.flight)
		throw Error("--snapshot-all: snapshots are those of flight recorders: add --flight and --snapshots N");
}

std::string run_name(const std::string &given)
{
	if (given.empty())
		return local_date(std::time(nullptr), "run-%Y%m%d-%H%M%S");
	if (!fleet::is_run_name(given))
		throw Error("--run: '{}' is not the name of a run: letters, digits, '.', '_' and '-', 64 at most, not "
			    "starting with '.' or '-'",
			    printable(given));
	return given;
}

// Sends the options to all hosts, and the command to the host that runs it.
void send_record(FleetRequest &sent, const RecordRequest &request)
{
	fleet::ControlMessage message;
	message.kind = "record";
	message.run = request.run;
	message.options = options_of(request);
	message.snapshot_all = request.snapshot_all;
	message.forward = request.forward;
	const auto lead = std::chrono::nanoseconds(parse_duration(request.lead, "--lead"));
	if (std::chrono::duration<double>(lead).count() > max_lead_s)
		throw Error("--lead: a start is planned at most {} s ahead", max_lead_s);
	std::vector<std::string> plain = sent.hosts;
	std::erase(plain, request.command_host);
	sent.send(message, plain, validity, lead);
	if (plain.size() < sent.hosts.size()) {
		message.command = request.command;
		sent.send(message, {request.command_host}, validity, lead);
	}
}

} // namespace

FleetRequest::FleetRequest(const FleetAccess &access, const std::string &patterns)
    : session(access), key(fleet::SigningKey::read(session.keys.directory + '/' + fleet::operator_key_file)),
      view(*session.connection)
{
	session.expect_connection();
	view.request_presence(session.hosts, presence_timeout);
	std::set<std::string> all = session.hosts;
	for (const auto &[host, seen] : view.hosts()) {
		all.insert(host);
		present.insert(host);
	}
	hosts = fleet_operator::chosen_hosts(patterns, all);
}

void FleetRequest::send(const fleet::ControlMessage &message, const std::vector<std::string> &to,
			std::chrono::nanoseconds validity, std::chrono::nanoseconds lead)
{
	fleet_operator::send_command(*session.connection, message, to, key, validity, lead,
				     [this](const std::string &nonce) { view.expect(nonce); });
}

fleet_operator::Outcomes FleetRequest::outcomes() const
{
	return fleet_operator::outcomes(hosts, view.answers());
}

void FleetRequest::wait(std::chrono::milliseconds timeout, bool (*is_done)(const fleet_operator::Outcome &))
{
	view.wait(timeout, [&] {
		const fleet_operator::Outcomes all = outcomes();
		return std::ranges::all_of(
		    all, [&](const auto &entry) { return !present.contains(entry.first) || is_done(entry.second); });
	});
}

std::unique_ptr<fleet::CollectorService> FleetRequest::collector(const std::string &run, const std::string &output,
								 int hub_pid) const
{
	auto service = std::make_unique<fleet::CollectorService>(
	    session.connection_options, output, run, [](const std::string &sentence) { print_error(sentence); },
	    fleet::Shard{}, hub_pid);
	if (!service->wait_until_connected(session.connect_timeout()))
		throw Error(service->problem());
	for (const auto &[host, seen] : view.hosts())
		service->receive_presence(host, seen.presence);
	return service;
}

void FleetRequest::print(bool json) const
{
	print_table(fleet_operator::outcome_table(outcomes(), present), format_of(json));
}

namespace {

// Notes hosts that do not take part in coordinated snapshots. Returns whether there are none.
bool all_take_part(const FleetRequest &sent)
{
	bool all = true;
	for (const auto &[host, outcome] : sent.outcomes()) {
		if (!outcome.accepted || outcome.refused || outcome.accepted->takes_part)
			continue;
		const std::string &why = outcome.accepted->reason;
		print_error(
		    fmt::format("{} takes no part in the snapshots of all hosts: {}", host,
				why.empty() ? "its agent is of a version that does not know them" : printable(why)));
		all = false;
	}
	return all;
}

// Notes hosts that do not forward as requested. Returns whether there are none.
bool all_forward(const FleetRequest &sent, const std::string &forward)
{
	bool all = true;
	const auto seen = sent.view.hosts();
	for (const auto &[host, outcome] : sent.outcomes()) {
		if (forward.empty() || !outcome.accepted || outcome.refused)
			continue;
		const std::string batches = fleet::forward_text(fleet::Forward::batch);
		const bool is_older = outcome.accepted->forward.empty();
		if ((is_older ? batches : outcome.accepted->forward) == forward)
			continue;
		const auto at = seen.find(host);
		const std::string version = at == seen.end() ? "" : at->second.presence.monitor_version;
		print_error(is_older ? fmt::format("{}: version {} does not know --forward; it forwards batches", host,
						   version.empty() ? "of its agent" : printable(version))
				     : fmt::format("{}: its trace travels by --forward {}", host,
						   printable(outcome.accepted->forward)));
		all = false;
	}
	return all;
}

// Waits until the run has ended and is stored. Returns the exit code.
int follow(FleetRequest &sent, const RecordRequest &request, FleetFollow &following, Termination &termination)
{
	const bool is_local = request.command_host.empty();
	const auto code =
	    following.wait_until_end(is_local ? request.command : std::vector<std::string>(), termination);
	following.stop();
	const std::vector<std::string> missing = following.wait_until_stored(termination);
	sent.print(request.json);
	if (!missing.empty())
		print_error(fmt::format("not everything of {} is stored: `monitor fleet collect -o {}` goes on with it",
					fmt::join(missing, ", "), printable(request.output)));
	const fleet_operator::Outcomes all = sent.outcomes();
	const bool is_fine = missing.empty() && std::ranges::all_of(all, [](const auto &entry) {
				     return entry.second.ended && entry.second.ended->exit_code == 0;
			     });
	return code.value_or(0) != 0 ? *code : is_fine ? 0 : 1;
}

int run_fleet_record(RecordRequest &request)
{
	expect_flight(request);
	expect_allowed(options_of(request));
	request.run = run_name(request.run);
	if (request.command.empty() && !request.command_host.empty())
		throw Error("--cmd-on: which command? Add -- CMD");
	const bool follows = !request.output.empty() || (!request.command.empty() && request.command_host.empty());
	std::optional<Termination> termination;
	if (follows)
		termination.emplace(); // before there are threads
	FleetRequest sent(request.access, request.hosts);
	FleetFollow following(sent, request.run, request.output, request.flight.has_value(), request.hub_pid);
	if (request.snapshot_all)
		following.watch_triggers();
	if (!request.command_host.empty() && std::ranges::find(sent.hosts, request.command_host) == sent.hosts.end())
		throw Error("--cmd-on: {} is not among the hosts of --hosts", printable(request.command_host));
	send_record(sent, request);
	const auto lead = std::chrono::nanoseconds(parse_duration(request.lead, "--lead"));
	sent.wait(answer_timeout, [](const auto &outcome) { return outcome.accepted || outcome.is_decided(); });
	sent.wait(std::chrono::ceil<std::chrono::milliseconds>(lead) + start_timeout,
		  [](const auto &outcome) { return outcome.is_decided() || !outcome.accepted; });
	if (!follows || fleet_operator::start_spread(sent.outcomes()).hosts == 0)
		sent.print(request.json);
	const fleet_operator::StartSpread spread = fleet_operator::start_spread(sent.outcomes());
	print_note("monitor: run {}: {}\n", request.run, fleet_operator::spread_text(spread, sent.hosts.size()));
	const bool is_joint = !request.snapshot_all || all_take_part(sent),
		   forwards_as_requested = all_forward(sent, request.forward);
	if (follows && spread.hosts > 0)
		return std::max(follow(sent, request, following, *termination),
				is_joint && forwards_as_requested ? 0 : 1);
	if (spread.hosts > 0 && !request.duration_s)
		print_note("monitor: it goes on until `monitor fleet stop --run {}`\n", request.run);
	return spread.hosts == sent.hosts.size() && is_joint && forwards_as_requested ? 0 : 1;
}

int run_fleet_stop(const StopRequest &request)
{
	FleetRequest sent(request.access, request.hosts);
	fleet::ControlMessage message;
	message.kind = "stop";
	message.run = run_name(request.run);
	sent.send(message, sent.hosts, validity, 0ns);
	const auto is_answered = [](const fleet_operator::Outcome &outcome) {
		return outcome.accepted || outcome.refused;
	};
	sent.wait(answer_timeout, is_answered);
	sent.print(request.json);
	const fleet_operator::Outcomes all = sent.outcomes();
	return std::ranges::all_of(all, [](const auto &entry) { return entry.second.accepted.has_value(); }) ? 0 : 1;
}

void add_recording_options(CLI::App &record, RecordRequest &request)
{
	add_option(record, "-e,--events", "FAMILY,...", request.events,
		   "event families, or default or light, as of monitor record");
	add_option(record, "-d,--duration", "SECONDS", request.duration_s, "stop after this many seconds");
	add_option(record, "--filter", "EXPRESSION", request.filter, "record only events for which this is true");
	add_option(record, "--trigger", "'[NAME:] WHEN => DO[, DO...]'", request.triggers,
		   "when something happens on a host, do something; not run or signal");
	add_option(record, "--statistics", "TIME", request.statistics, "no events: sums of each period of TIME");
	add_option(record, "--keep", "TIME", request.keep, "with --statistics: remove periods older than TIME");
	record.add_flag("--count-only", request.count_only, "with --statistics: only numbers of events");
	add_option(record, "--flight", "[SIZE|TIME]", request.flight,
		   "keep only the newest events, until a snapshot (default: 64M)")
	    ->expected(0, 1);
	add_option(record, "--snapshots", "N", request.snapshots,
		   "with --flight, which needs it: end after N snapshots");
	record.add_flag("--snapshot-all", request.snapshot_all,
			"with --flight: when a trigger of one host takes a snapshot, all hosts of the run do");
	add_option(record, "--max-size", "SIZE", request.max_size, "stop on a host when its trace reaches this size");
	record.add_flag("--user", request.user, "also record the events of all instrumented programs");
	record.add_flag("--user-only", request.user_only, "only these: for agents without root");
	record.add_flag("--no-calibration", request.no_calibration, "do not measure the cost of an event");
	add_option(record, "--note", "TEXT", request.note, "text to store with the traces");
}

} // namespace

void add_fleet_record(CLI::App &fleet, int &exit_code)
{
	CLI::App *record = fleet.add_subcommand("record", "start a recording on hosts, at the same time");
	auto request = std::make_shared<RecordRequest>();
	add_fleet_access(*record, request->access);
	add_option(*record, "--hosts", "PATTERN,...", request->hosts,
		   "which ones: names, * and ? stand for any text or character (default: *)");
	add_option(*record, "-o,--output", "RUN", request->output, "also bring all traces here, as one collection");
	add_option(*record, "--hub-pid", "PID", request->hub_pid,
		   "with -o: the server's process, if it is on this machine, for `monitor fleet cost`")
	    ->check(CLI::PositiveNumber);
	add_option(*record, "--run", "NAME", request->run, "its name (default: by the date)");
	add_option(*record, "--forward", "HOW", request->forward,
		   "when traces travel: batch, as they are recorded; each, the same block by block; on-demand, when "
		   "they are fetched (default: as each agent was started)")
	    ->check(CLI::IsMember(
		std::vector<std::string>(std::begin(fleet::forward_names), std::end(fleet::forward_names))));
	add_option(*record, "--lead", "TIME", request->lead, "start so long after the command is sent (default: 1s)");
	add_recording_options(*record, *request);
	add_option(*record, "--cmd-on", "HOST", request->command_host,
		   "run CMD on this host, not here, and end its recording with CMD");
	record->add_flag("--json", request->json, "print JSON instead of text");
	add_option(*record, "command", "CMD ...", request->command, "command to run while recording; it ends with CMD");
	record->positionals_at_end();
	record->footer("It prints what became of it on each host, and how far apart the hosts started.\n"
		       "Without -o and CMD it returns when the hosts have started, else when all is over, and stored.\n"
		       "Exit code: 0, 1 if it failed on a host, else that of CMD.\n"
		       "Examples:\n"
		       "  monitor fleet record --run night -d 60\n"
		       "  monitor fleet record --hosts 'web*,db1' --run slow -e sched,syscall\n"
		       "  monitor fleet record -o RUN -- sleep 30\n"
		       "  monitor fleet record --run job --cmd-on web1 -- make -C /srv/job\n"
		       "  monitor fleet record --statistics 60s --keep 24h --run week\n"
		       "  monitor fleet record --forward on-demand --run day -d 86400\n"
		       "  monitor fleet record -o RUN --user --flight 64M --snapshots 10 --snapshot-all \\\n"
		       "    --trigger 'slow: name == \"slow_request\" => snapshot before 5s'");
	record->callback([request, &exit_code] {
		exit_code = exit_monitor_failed;
		exit_code = run_fleet_record(*request);
	});
}

void add_fleet_stop(CLI::App &fleet, int &exit_code)
{
	CLI::App *stop = fleet.add_subcommand("stop", "end a recording on hosts");
	auto request = std::make_shared<StopRequest>();
	add_fleet_access(*stop, request->access);
	add_option(*stop, "--hosts", "PATTERN,...", request->hosts, "which ones (default: *)");
	add_option(*stop, "--run", "NAME", request->run, "the name of the run")->required();
	stop->add_flag("--json", request->json, "print JSON instead of text");
	stop->footer("Exit code: 0, or 1 if a host did not stop it.\n"
		     "Example:\n  monitor fleet stop --run night");
	stop->callback([request, &exit_code] {
		exit_code = exit_monitor_failed;
		exit_code = run_fleet_stop(*request);
	});
}

} // namespace monitor
