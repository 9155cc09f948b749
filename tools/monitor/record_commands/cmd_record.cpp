// SPDX-License-Identifier: MIT
// `monitor record`: the progress line and the summary around recording/session/recording.h.
#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "answers/report/counts_table.h"
#include "answers/report/summary.h"
#include "answers/report/table.h"
#include "answers/report/times_table.h"
#include "answers/report/triggers_table.h"
#include "base/error.h"
#include "base/escape.h"
#include "commands.h"
#include "events_help.h"
#include "last_line.h"
#include "option_texts.h"
#include "problems.h"
#include "reading/events/trace.h"
#include "ready_notice.h"
#include "record_arguments.h"
#include "recording/session/recording.h"
#include "terminal.h"

namespace monitor {
namespace {

std::string recorded_text(const record::Options &options)
{
	if (options.user_only)
		return options.everyone ? "the events of all programs" : "the command's own events";
	if (options.only_command)
		return options.pids.empty() ? "the command and its descendants"
					    : "the command, the chosen processes and their descendants";
	if (options.pids.size() == 1)
		return fmt::format("process {} and its descendants", options.pids.front());
	return options.pids.empty() ? "the whole machine" : "the chosen processes and their descendants";
}

std::string end_text(const record::Options &options)
{
	std::string text;
	const auto add = [&](const std::string &end) { text += (text.empty() ? "until " : " or ") + end; };
	if (!options.command.empty())
		add("the command ends");
	if (options.duration_s)
		add(fmt::format("{} s have passed", *options.duration_s));
	if (options.max_bytes)
		add(fmt::format("the trace reaches {}", report::bytes_text(static_cast<double>(*options.max_bytes))));
	if (options.command.empty())
		add("Ctrl-C");
	return text;
}

void show_start(const record::Options &options, const std::string &directory)
{
	if (options.flight) {
		print_note("monitor: flight recorder of {} until {}; nothing is written before a snapshot: monitor "
			   "snapshot {}, or kill -USR1 {}\n",
			   recorded_text(options), end_text(options).substr(6), printable(directory), ::getpid());
		return;
	}
	if (options.statistics) {
		print_note("monitor: {} of {} into {} {}: a file each {}, of the last {}\n",
			   options.statistics->counts_only ? "numbers of events (no times)" : "statistics",
			   recorded_text(options), printable(directory), end_text(options),
			   report::duration_text(static_cast<double>(options.statistics->period_ns)),
			   report::duration_text(static_cast<double>(options.statistics->keep_ns)));
		return;
	}
	print_note("monitor: recording {} into {} {}\n", recorded_text(options), printable(directory),
		   end_text(options));
}

void show_progress(const record::Progress &now, bool counts_only)
{
	static record::Progress before;
	const double seconds = std::max(now.seconds - before.seconds, 1e-3);
	print_note("\rmonitor: {:.1f} s, {:.0f} k {}/s, {:.1f} MB, lost {} \033[K", now.seconds,
		   static_cast<double>(now.tokens - before.tokens) / seconds / 1000, counts_only ? "events" : "tokens",
		   static_cast<double>(now.bytes) / 1e6, now.lost);
	before = now;
}

// What was recorded and what it cost, read from the trace as every report does.
void print_summary(const record::Result &result)
{
	if (result.failed)
		print_note("monitor: {}; the trace up to that point can be read\n", result.end_reason);
	try {
		trace::Trace trace = trace::Trace::open(result.directory);
		if (trace.is_empty())
			throw Error(result.directory + " contains no events");
		const analyze::RecordingInfo info = analyze::parse_recording(trace.recording_json());
		const report::Summary summary = report::summarize(trace, info);
		print_note("monitor: {} recorded into {}: {}{} ({})\nmonitor: {}\n",
			   report::duration_text(summary.wall_ns), printable(result.directory),
			   report::bytes_text(static_cast<double>(summary.bytes)), report::per_token_text(summary),
			   result.failed ? "incomplete" : result.end_reason, report::summary_text(summary));
		if (!info.counts.empty())
			print_note("\n{}", report::to_text(report::counts_table(info), terminal_width()));
		if (!info.times.empty())
			print_note(
			    fmt::format("\n{}", report::to_text(report::times_table(trace, info), terminal_width())) +
			    report::times_notes(info));
		if (!info.counts.empty() || !info.times.empty())
			print_note(report::counted_text(info));
		print_note(report::triggers_notes(info));
		if (!result.failed)
			print_first_sentence(result.directory, info);
	} catch (const Error &error) {
		print_error(std::string("the recording cannot be read: ") + error.what());
	}
}

void print_flight_summary(const record::Result &result)
{
	print_note(
	    "monitor: {}; {} {} in {}{}{}\n", result.end_reason, result.snapshots,
	    result.snapshots == 1 ? "snapshot" : "snapshots", printable(result.directory),
	    result.failed_snapshots ? fmt::format(", {} more could not be written whole", result.failed_snapshots) : "",
	    result.left_out
		? fmt::format("; {} of triggers took none, because one was being taken or could not be written",
			      result.left_out == 1 ? "1 firing" : fmt::format("{} firings", result.left_out))
		: "");
	analyze::RecordingInfo info = analyze::parse_recording(result.triggers);
	info.flight.emplace(); // the counts cover the whole flight
	print_note(report::triggers_notes(info));
}

int run_record(RecordArguments &arguments)
{
	parse_record_arguments(arguments);
	const bool terminal = ::isatty(STDERR_FILENO);
	record::Listener listener;
	ReadyNotice notice(arguments.notify_fd);
	listener.on_start = [&](const std::string &directory) {
		notice.send();
		show_start(arguments.options, directory);
	};
	listener.on_note = [](const std::string &note) { print_note("monitor: {}\n", printable(note)); };
	if (terminal)
		listener.on_progress = [&](const record::Progress &now) {
			show_progress(now, arguments.options.statistics && arguments.options.statistics->counts_only);
		};
	listener.on_snapshot = listener.on_note;
	const record::Result result = [&] {
		record::Recording recording(arguments.options, listener);
		recording.start();
		const auto watch = notice.watch([&recording] { recording.stop("whoever asked for it has ended"); });
		return recording.wait();
	}(); // restores signals and memory
	if (terminal)
		print_note("\r\033[K");
	if (result.exec_error) {
		print_note("monitor: cannot run {}: {}\n", printable(arguments.options.command.front()),
			   std::strerror(result.exec_error));
		return *result.command_exit;
	}
	if (arguments.options.flight)
		print_flight_summary(result);
	else
		print_summary(result);
	if (result.failed || result.failed_snapshots)
		return exit_monitor_failed;
	return result.command_exit.value_or(0);
}

} // namespace

void add_record(CLI::App &app, int &exit_code)
{
	CLI::App *record =
	    app.add_subcommand("record", "record the machine, or some processes, into a trace directory");
	auto arguments = std::make_shared<RecordArguments>();
	add_record_options(*record, *arguments);
	record->callback([arguments, &exit_code] {
		exit_code = exit_monitor_failed;
		if (arguments->families == "help") {
			if (!arguments->options.command.empty())
				throw Error("-e help says which events there are, and runs no command");
			print_events_help();
			exit_code = 0;
			return;
		}
		exit_code = run_record(*arguments);
	});
}

} // namespace monitor
