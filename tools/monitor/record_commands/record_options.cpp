// SPDX-License-Identifier: MIT
// The options of `monitor record`, in the order of its help. Combinations are checked in record_arguments.cpp.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common_options.h"
#include "help_format.h"
#include "record_arguments.h"
#include "stack_options.h"

namespace monitor {
namespace {

constexpr double max_s = 1e9; // 31 years

std::string duration_error(const std::string &text)
{
	const double seconds = std::strtod(text.c_str(), nullptr);
	return seconds > 0 && seconds <= max_s
		   ? std::string()
		   : fmt::format("{} is not a number of seconds above 0 and up to {}", text, max_s);
}

void add_selection(CLI::App &command, RecordArguments &to)
{
	add_option(command, "-o,--output", "DIR", to.options.output,
		   "trace directory (default: named by date and command)");
	add_option(command, "-e,--events", "FAMILY,...", to.families,
		   "event families, or a set of them: light or default, which is what is recorded without this; help "
		   "lists them");
	add_option(command, "-d,--duration", "SECONDS", to.options.duration_s, "stop after this many seconds")
	    ->check(duration_error);
	add_option(command, "-p,--pid", "PID|NAME,...|cmd", to.selection,
		   "record only these processes and their descendants, by number or name; cmd: CMD and its tree");
	add_option(command, "--filter", "EXPRESSION", to.filter,
		   "record only events for which this is true, decided where they happen; as for `monitor list`");
	add_option(command, "--count", "NAME=EXPRESSION", to.counts,
		   "count the events for which this is true, in the kernel, for `report DIR counts` and a table at the "
		   "end; up to 64 times");
	add_option(command, "--time", "'NAME=START then END [per KEY]'", to.times,
		   "time from each event for which START is true to the next for which END is, in the kernel, for "
		   "`report DIR counts` and a table at the end; KEY: tid, cpu, or a number that both have, such as "
		   "pid=next_pid; up to 16 times");
	add_option(command, "--trigger", "'[NAME:] WHEN => DO[, DO...]'", to.triggers,
		   "when something happens, do something: snapshot (with --flight), mark, start, stop, sample, read, "
		   "reset, stack, end, run, signal; see monitor-trigger(1); up to 16 times");
	add_option(command, "--triggers", "FILE", to.trigger_files, "the triggers in this file");
	add_option(command, "--states", "TREE", to.states,
		   "also record which states of a tree, a file or a shipped one, the CPUs, threads or the machine are "
		   "in, and for how long, for `monitor states DIR`");
}

void add_modes(CLI::App &command, RecordArguments &to)
{
	add_option(command, "--statistics", "TIME", to.statistics,
		   "no events: sums of each period of TIME, such as 60s, in one small file each, for `report DIR`");
	add_option(command, "--keep", "TIME", to.keep,
		   "with --statistics: remove periods older than TIME, such as 24h (default: keep 10000)");
	command.add_flag("--count-only", to.count_only,
			 "with --statistics: only the number of events of each class, which the probes count without a "
			 "clock and without storing anything; no times, and not who did it");
	add_option(
	    command, "--flight", "[SIZE|TIME]", to.flight,
	    "flight recorder: keep only the newest events, in memory, and write them when `monitor snapshot` or "
	    "SIGUSR1 asks for it; rings of SIZE in total, such as 256M, or snapshots of the last TIME, such as 10s")
	    ->expected(0, 1);
	add_option(command, "--snapshots", "N", to.snapshots, "with --flight: end after N snapshots")
	    ->check(CLI::Range(1u, 1'000'000u));
	command.add_flag("--no-tokens", to.no_tokens, "with --count, --time or --states: record no events");
	add_option(command, "-m,--measure", "GROUP,...", to.measurements,
		   "counters to read: groups such as cpu,cache, or NAME=FORMULA (see `monitor events --groups`)");
	add_option(command, "--every", "TIME", to.every,
		   "with -m: also read the counters when a thread has run for TIME without a switch, such as 100ms; "
		   "with --count or --time: also record what was counted and timed every TIME");
	add_option(command, "--reset-on", "EVENT,...", to.reset_on,
		   "with -m: also read the counters at these events, for `report DIR segments`: up to 4 tracepoints, "
		   "or PATH:FUNCTION[%return]");
	command
	    .add_option("--ratio-format", to.ratio_format,
			"with -m: exact counts, or ratios of 16 or 32 bits for small recordings (default: exact)")
	    ->check(CLI::IsMember({"exact", "rems16", "rems32"}));
	command
	    .add_option("--card", to.options.card,
			"what writes the kernel's events: bpf, module, or auto (the module if it is loaded)")
	    ->check(CLI::IsMember({"auto", "bpf", "module"}));
	add_option(command, "--sample-every", "TIME", to.sample_every,
		   "interrupt all CPUs every TIME, such as 10ms, at the same time, and record what each is doing, for "
		   "`report DIR samples`");
	add_stack_options(command, to.stacks,
			  "who called whom, in programs and in the kernel, for `report DIR stacks`; without it CMD's "
			  "programs are sampled 99 times a second, with =no they are not");
	add_option(command, "--functions", "PATTERN,...", to.functions,
		   "calls of functions, for `report DIR activities`: of CMD's program or the one of -p by name, others "
		   "as FILE:NAME; * and ? stand for any text or character");
	add_option(command, "--budget", "PERCENT", to.budget,
		   "if the events of --functions take more than this share of the CPU time that is used, stop "
		   "recording the most expensive ones");
}

void add_surroundings(CLI::App &command, RecordArguments &to)
{
	add_option(command, "--buffer", "SIZE", to.buffer, "memory for the rings and the pool together, such as 64M");
	add_option(command, "--max-size", "SIZE", to.max_size, "stop when the trace reaches this size, such as 1G");
	add_option(command, "--note", "TEXT", to.options.note, "text to store with the trace");
	command.add_flag("--user", to.options.everyone,
			 "record the events of every instrumented program, not only of CMD's tree");
	command.add_flag("--user-only", to.options.user_only,
			 "record only the events that instrumented programs post themselves; needs no privilege");
	command.add_flag("--calibrate", to.calibrate,
			 "also measure the cost of an event in CMD itself: detach all probes for 8 to 32 ms at a time, "
			 "2 % of the time");
	command.add_flag("--no-calibration", to.no_calibration,
			 "do not measure the cost of an event (0.3 s before and after, less if it was kept), which is "
			 "then unknown");
	add_option(command, "--notify-fd", "FD", to.notify_fd,
		   "for programs: write a line to this descriptor, a pipe, when everything is recorded, and end when "
		   "nobody reads it any more")
	    ->check(CLI::Range(0, 1'000'000));
	command.add_flag("--force", to.options.force, "empty an existing trace directory first");
	add_option(command, "command", "CMD ...", to.options.command, "command to run while recording");
	command.positionals_at_end();
}

// What `record --help` shows; --help-all shows all.
void move_rare_options(CLI::App &command)
{
	static constexpr std::string_view usual[] = {"--help",     "--help-all",  "--output", "--events",
						     "--duration", "--pid",       "--filter", "--measure",
						     "--stacks",   "--functions", "--flight", "--statistics"};
	for (CLI::Option *option : command.get_options())
		if (option->nonpositional() && std::ranges::find(usual, option->get_name()) == std::end(usual))
			option->group(more_options);
}

} // namespace

void add_record_options(CLI::App &command, RecordArguments &arguments)
{
	add_selection(command, arguments);
	add_modes(command, arguments);
	add_surroundings(command, arguments);
	move_rare_options(command);
	command.footer(
	    "Without CMD, recording stops after -d or at Ctrl-C. CMD runs as the user who called sudo; its exit code\n"
	    "is passed on. 125: monitor failed, 126: CMD cannot be run, 127: CMD was not found.\n"
	    "Examples:\n"
	    "  sudo monitor record -- make -j8\n"
	    "  sudo monitor record -d 10\n"
	    "  sudo monitor record -m cpu,cache -- ./solver\n"
	    "  sudo monitor record -m cpu --reset-on ./solver:step -- ./solver\n"
	    "  sudo monitor record --calibrate -- ./solver\n"
	    "  sudo monitor record -p cmd -e sched,syscall -o trace -- ./server\n"
	    "  sudo monitor record --functions 'parse_*,libc.so.6:fopen' -- ./server\n"
	    "  sudo monitor record -p 1234 -d 5\n"
	    "  sudo monitor record --statistics 60s --keep 24h -o week\n"
	    "  sudo monitor record --statistics 60s --count-only -o counts");
}

} // namespace monitor
