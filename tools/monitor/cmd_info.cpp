// SPDX-License-Identifier: MIT
// `monitor info`: describes a trace: command, machine, date, tokens and bytes per class, losses, clock, cost.
// Exit code: 0, or 1 if parts of the trace are damaged.
#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "answers/check/clock.h"
#include "answers/check/order.h"
#include "answers/report/summary.h"
#include "answers/report/table.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/json.h"
#include "commands.h"
#include "common_options.h"
#include "fleet/wire/system_clock.h"
#include "open.h"
#include "problems.h"
#include "reading/analyze/clock_bound.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/fetched_packets.h"
#include "reading/events/merge.h"
#include "reading/events/trace.h"
#include "selection.h"

namespace monitor {
namespace {

struct InfoArguments {
	std::vector<std::string> directories;
	std::string tdl;
	bool json = false;
};

report::Table class_table(const trace::Trace &trace, const std::vector<std::uint64_t> &tokens,
			  const analyze::RecordingInfo &info)
{
	report::Table table;
	table.columns = {{"event", "event", report::Unit::text},    {"id", "id", report::Unit::count},
			 {"tokens", "tokens", report::Unit::count}, {"bytes", "bytes", report::Unit::count},
			 {"lost", "lost", report::Unit::count},     {"filtered", "filtered", report::Unit::count}};
	if (info.pauses.number)
		table.columns.push_back({"paused", "paused", report::Unit::count});
	for (const auto &cls : trace.description().classes()) {
		report::Cell lost, filtered, paused;
		bool counted = false;
		for (const analyze::ClassCounts &counts : info.classes) {
			if (counts.id != cls->id)
				continue;
			lost = counts.lost();
			filtered = counts.filtered;
			paused = counts.paused;
			counted = true;
		}
		if (!tokens[cls->index] && !counted)
			continue;
		table.rows.push_back(
		    {cls->name, cls->id, tokens[cls->index], tokens[cls->index] * cls->size_bytes, lost, filtered});
		if (info.pauses.number)
			table.rows.back().push_back(paused);
	}
	table.sort_by(2);
	return table;
}

// Truncated: a command's arguments may be megabytes.
std::string command_text(const std::string &line)
{
	constexpr std::size_t max_bytes = 1000;
	if (line.size() <= max_bytes)
		return line;
	std::size_t end = max_bytes;
	while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) // do not split a character
		--end;
	return fmt::format("{} ... (all {} bytes: --json)", line.substr(0, end), report::count_text(line.size()));
}

std::string selection_text(const analyze::RecordingInfo &info)
{
	if (info.card == "user")
		return "programs' own events";
	if (!info.filtering())
		return "the whole machine";
	std::string text = info.filter.command ? "the command's processes" : "";
	for (std::int64_t pid : info.filter.pids)
		text += (text.empty() ? "process " : ", process ") + std::to_string(pid);
	return text + " and descendants";
}

report::Table generic_ctf_classes(const trace::Trace &trace, const std::vector<std::uint64_t> &events)
{
	report::Table table;
	table.columns = {{"event", "event", report::Unit::text},
			 {"id", "id", report::Unit::count},
			 {"events", "events", report::Unit::count}};
	for (const auto &cls : trace.description().classes())
		if (events[cls->index])
			table.rows.push_back({cls->name, cls->id, events[cls->index]});
	table.sort_by(2);
	return table;
}

void print_line(const char *name, const std::string &value)
{
	if (!value.empty())
		fmt::print("{:<10} {}\n", name, printable(value));
}

// The last state of the hosts' system clocks according to their kernels (adjtimex(2)); no bound depends on it.
std::map<std::string, fleet::SystemClock> system_clocks_of(const std::string &run)
{
	constexpr std::size_t max_bytes = 32u << 20;
	std::map<std::string, fleet::SystemClock> all;
	std::error_code error;
	const auto directory = std::filesystem::path(run) / ".monitor" / "system_clocks";
	for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
	     entry.increment(error))
		if (const auto last = fleet::last_system_clock(read_text(entry->path().string(), max_bytes)))
			all.emplace(entry->path().filename().string(), *last);
	return all;
}

// By the names that the hosts have in the run.
nlohmann::ordered_json system_clocks_json(const std::string &run)
{
	auto all = nlohmann::ordered_json::object();
	for (const auto &[host, clock] : system_clocks_of(run))
		all[host] = fleet::system_clock_json(clock);
	return all;
}

// Steps of the system clock: when, in seconds since the start of the trace, and by how many seconds.
nlohmann::ordered_json real_time_steps_json(const trace::Trace &trace)
{
	auto all = nlohmann::ordered_json::array();
	for (const trace::RealTimeStep &step : trace.description().clock.steps)
		all.push_back({{"at_s", static_cast<double>(trace.since_begin_ns(step.time)) / 1e9},
			       {"by_s", static_cast<double>(step.ns) / 1e9}});
	return all;
}

// The error bound of each host's clock against the common one.
nlohmann::ordered_json clocks_json(const trace::Trace &trace)
{
	auto all = nlohmann::ordered_json::array();
	for (std::size_t i = 0; i < trace.machines().size() && trace.machines().size() > 1; ++i) {
		const auto range = check::bounds_of_clock(trace, i);
		all.push_back({{"host", trace.machines()[i]},
			       {"min_ns", nullptr},
			       {"max_ns", nullptr},
			       {"known", range.known},
			       {"unknown", range.unknown}});
		if (range.known == 0)
			continue;
		all.back()["min_ns"] = range.min;
		all.back()["max_ns"] = range.max;
	}
	return all;
}

// Copies of which only a part was fetched.
nlohmann::ordered_json fetched_json(const trace::Trace &trace)
{
	auto all = nlohmann::ordered_json::array();
	for (const trace::FetchedPart &part : trace::fetched_parts(trace))
		all.push_back({{"trace", part.directory},
			       {"windows_ns", part.fetched.windows},
			       {"blocks", part.fetched.blocks_present()},
			       {"of", part.fetched.blocks()},
			       {"ended", part.fetched.has_ended}});
	return all;
}

// A trace of another tracer: prints what its metadata has.
void print_generic_ctf(const trace::Trace &trace, const std::string &run, const report::Summary &summary,
		       const report::Table &classes)
{
	const auto env_text = [&](const char *name) {
		const std::string *value = trace.description().find_env(name);
		return value ? *value : std::string();
	};
	print_line("tracer", env_text("tracer_name"));
	print_line("domain", env_text("domain"));
	print_line("host", env_text("hostname"));
	print_line("kernel", env_text("kernel_release"));
	print_line("session", env_text("trace_name"));
	print_line("streams", std::to_string(trace.streams().size()));
	for (const trace::FetchedPart &part : trace::fetched_parts(trace))
		print_line("fetched", part.text());
	print_line("duration", report::duration_text(summary.wall_ns));
	print_line("size", report::bytes_text(static_cast<double>(summary.bytes)));
	if (trace.machines().size() > 1)
		for (std::size_t i = 0; i < trace.machines().size(); ++i)
			print_line("clock", trace.machines()[i] + " is off the common clock by: " +
						check::bound_text(check::bounds_of_clock(trace, i)));
	for (const auto &[host, clock] : system_clocks_of(run))
		print_line("system", host + "'s system clock: " + clock.text());
	fmt::print("\n{}\n{}\n", report::to_text(classes), report::summary_text(summary));
}

// How far back a flight recorder's snapshot goes, by CPU.
std::string reach_text(const analyze::FlightInfo &flight, const trace::Clock &clock)
{
	constexpr std::size_t most = 16;
	std::string text;
	for (std::size_t cpu = 0; cpu < std::min(flight.since.size(), most); ++cpu) {
		const std::uint64_t ago = flight.asked - std::min(flight.asked, flight.since[cpu]);
		text += fmt::format("{}CPU {} {}", text.empty() ? "" : ", ", cpu,
				    report::duration_text(static_cast<double>(clock.to_ns(ago))));
	}
	if (flight.since.size() > most)
		text += fmt::format(", and {} more CPUs", flight.since.size() - most);
	return text + " before it was asked for";
}

void print_snapshot(const analyze::FlightInfo &flight, const trace::Clock &clock)
{
	print_line("reaches", reach_text(flight, clock));
	print_line("before it", fmt::format("{} tokens were overwritten", report::count_text(flight.overwritten)));
	print_line("held", fmt::format("{}, in which {} events were discarded",
				       report::duration_text(static_cast<double>(flight.held_ns)),
				       report::count_text(flight.discarded)));
}

void print_text(const trace::Trace &trace, const analyze::RecordingInfo &info, const report::Summary &summary,
		const report::Table &classes)
{
	print_line("command", command_text(info.command_line()));
	print_line("exit code", info.command_exit ? std::to_string(*info.command_exit) : "");
	print_line("selection", selection_text(info));
	print_line("filter", info.filter.expression);
	for (const analyze::TriggerInfo &trigger : info.triggers)
		print_line("trigger", fmt::format("{}: {} => {}", trigger.name, trigger.when, trigger.what));
	print_line("events", info.events_text());
	print_line("switches", info.switches_text());
	if (!info.lives.empty())
		print_line("recordings",
			   fmt::format("{} into this directory; date, kernel, end and counts are of the last one",
				       info.number_of_lives()));
	print_line("date", info.date);
	if (const trace::Clock &clock = trace.description().clock; !clock.steps.empty())
		print_line("clock", check::real_time_text(clock.steps, clock, trace.begin_time()));
	print_line("user", info.user);
	print_line("host", info.host);
	print_line("kernel", info.kernel + (info.machine.empty() ? "" : " " + info.machine));
	print_line("card", info.card + (info.attach.empty() ? "" : ", attached by " + info.attach));
	print_line("note", info.note);
	if (info.statistics)
		print_line("statistics",
			   fmt::format("{}of periods of {}",
				       info.has_counts_only() ? "only the numbers of events (--count-only), " : "",
				       report::duration_text(static_cast<double>(info.statistics->period_ns))) +
			       (info.statistics->keep_ns
				    ? fmt::format(", the last {} are kept",
						  report::duration_text(static_cast<double>(info.statistics->keep_ns)))
				    : ""));
	if (info.has_counts_only() && info.statistics->max_late_ns && info.statistics->max_width_ns)
		print_line("counts",
			   fmt::format("read at most {} after the end of a period, each time within {}",
				       report::duration_text(static_cast<double>(*info.statistics->max_late_ns)),
				       report::duration_text(static_cast<double>(*info.statistics->max_width_ns))));
	print_line("end", info.complete()   ? info.end_reason
			  : info.statistics ? "it is still running, or it was killed"
					    : "incomplete: killed, or the disk was full");
	for (const trace::FetchedPart &part : trace::fetched_parts(trace))
		print_line("fetched", part.text());
	if (info.flight)
		print_snapshot(*info.flight, trace.description().clock);
	print_line("duration", report::duration_text(summary.wall_ns));
	print_line("size", fmt::format("{} in streams{}, headers included",
				       report::bytes_text(static_cast<double>(summary.bytes)),
				       report::per_token_text(summary)));
	fmt::print("\n{}\n{}\n", report::to_text(classes), report::summary_text(summary));
}

int run_info(const InfoArguments &arguments)
{
	trace::Trace trace = open_trace(arguments.directories, arguments.tdl);
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	std::vector<std::uint64_t> tokens(trace.description().classes().size());
	analyze::ClockBound bound(trace.description(), info);
	std::uint64_t total = 0;
	trace::Losses losses;
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    ++tokens[event.cls->index];
		    if (event.stream->is_recorder())
			    bound.event(event);
		    total += !event.is_control();
	    },
	    [&](const trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t lost) { losses.add(lost); });
	report::Summary summary =
	    info.statistics ? report::summarize(trace, info) : report::summarize(trace, info, bound, total);
	if (trace.is_generic_ctf())
		summary.lost = losses.total_lost();
	if (!trace.problems().empty())
		summary.lost.reset(); // events in damaged parts were not counted
	const report::Table classes =
	    trace.is_generic_ctf() ? generic_ctf_classes(trace, tokens) : class_table(trace, tokens, info);
	if (arguments.json) {
		auto recording = parse_json<nlohmann::ordered_json>(trace.recording_json());
		if (recording.is_discarded())
			recording = nullptr;
		fmt::print("{{\"summary\": {},\n\"classes\": {},\n\"clocks\": {},\n\"system_clocks\": "
			   "{},\n\"real_time_steps\": {},\n\"fetched\": {},\n\"recording\": {}}}\n",
			   report::summary_json(summary), report::to_json(classes), json_dump(clocks_json(trace), 1),
			   json_dump(system_clocks_json(arguments.directories.front()), 1),
			   json_dump(real_time_steps_json(trace), 1), json_dump(fetched_json(trace), 1),
			   json_dump(recording, 1));
	} else if (trace.is_generic_ctf()) {
		print_generic_ctf(trace, arguments.directories.front(), summary, classes);
	} else {
		print_text(trace, info, summary, classes);
	}
	return print_problems(trace.problems());
}

} // namespace

void add_info(CLI::App &app, int &exit_code)
{
	CLI::App *command =
	    app.add_subcommand("info", "show command, machine, tokens, losses, clock and cost of a trace");
	auto arguments = std::make_shared<InfoArguments>();
	add_traces(*command, arguments->directories, arguments->tdl);
	command->add_flag("--json", arguments->json,
			  "print JSON: {summary, classes, clocks, system_clocks, real_time_steps, recording}");
	refuse_selection(*command, "info describes a whole trace; monitor stat counts the events of a part of it");
	refuse_option(*command, "--filter", "info describes a whole trace; monitor stat counts events that match");
	command->footer("Exit code: 0, or 1 if parts of the trace are damaged.\n"
			"Example:\n  monitor info DIR");
	command->callback([arguments, &exit_code] { exit_code = run_info(*arguments); });
}

} // namespace monitor
