// SPDX-License-Identifier: MIT
// `monitor report`: prints one of the reports in answers/reports/.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "answers/reports/report.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/ranges.h"
#include "base/suggestions.h"
#include "commands.h"
#include "common_options.h"
#include "open.h"
#include "plots.h"
#include "problems.h"
#include "selection.h"
#include "terminal.h"

namespace monitor {
namespace {

// Each grouping once, in the order of the reports.
std::vector<std::string> all_groupings()
{
	std::vector<std::string> all;
	for (const reports::Report *report : all_reports())
		std::ranges::copy_if(report->by, std::back_inserter(all),
				     [&](const std::string &by) { return std::ranges::count(all, by) == 0; });
	return all;
}

struct ReportArguments : reports::Question {
	std::vector<std::string> words; // directories, and perhaps the report's name
	std::string tdl;
	bool wide = false;
};

// The last word, if it is the name of a report.
void parse_report_name(ReportArguments &arguments)
{
	arguments.report = all_reports().front();
	const auto named = std::ranges::find_if(all_reports(), [&](const reports::Report *report) {
		return !arguments.words.empty() && arguments.words.back() == report->name;
	});
	if (named != all_reports().end()) {
		arguments.report = *named;
		arguments.words.pop_back();
	}
	if (arguments.words.empty() && arguments.report != &reports::help_report)
		throw CLI::ValidationError("name a trace directory");
	const std::string why = reports::why_unfit(arguments, arguments.words.size(), all_reports());
	if (!why.empty())
		throw CLI::ValidationError(why);
}

// A last word that is neither a report nor a trace is more likely a misspelled report.
void expect_trace(const std::string &word, bool is_after_another)
{
	std::error_code ignored;
	if (std::filesystem::exists(word, ignored))
		return;
	const auto names = list_of<std::string>(all_reports(), &reports::Report::name);
	if (std::ranges::find(names, word) != names.end())
		throw Error("there is no directory {}; the name of a report comes last: monitor report DIR {}", word,
			    word);
	if (is_after_another)
		throw Error("{} is neither a trace nor a report; the reports are {}.{}", word, fmt::join(names, ", "),
			    suggestions(word, names));
}

// Returns the exit code.
int print_answer(const ReportArguments &arguments, const std::vector<std::string> &directories, std::string &head)
{
	trace::Trace trace = open_trace(directories, arguments.tdl);
	const auto expect = arguments.report->in_statistics ? expect_times : expect_events;
	expect(trace, std::string("the report ") + arguments.report->name);
	const reports::Answer answer = arguments.report->answer(arguments, trace);
	write_svg(answer.charts, arguments.plot.file, answer.notes);
	fmt::print("{}{}", answer.head == head ? "" : answer.head, answer.text);
	head = answer.head;
	return print_problems(trace.problems());
}

int write_flame_graphs(const ReportArguments &arguments)
{
	auto traces = list_of<trace::Trace>(arguments.words,
					    [&](const std::string &word) { return open_trace({word}, arguments.tdl); });
	const reports::Answer made = reports::flame_graphs(arguments, traces);
	int exit_code = 0;
	for (const trace::Trace &trace : traces)
		exit_code |= print_problems(trace.problems());
	if (made.text.empty())
		throw Error(made.notes);
	write_all(open_file(arguments.output, O_WRONLY | O_CREAT | O_TRUNC, 0644).get(),
		  std::as_bytes(std::span(made.text)), arguments.output);
	print_note("{}: {} of {} kB, for a browser\n", printable(arguments.output), made.notes,
		   made.text.size() / 1000);
	return exit_code;
}

// Traces of a collection are reported separately: thread and CPU state is not carried from one to the next. Only the
// report of requests spans traces.
int run_report(ReportArguments &arguments)
{
	int exit_code = 0;
	std::string head;
	for (const std::string &word : arguments.words)
		expect_trace(word, arguments.words.size() > 1);
	if (arguments.report->of_all)
		return print_answer(arguments, arguments.words, head);
	std::vector<std::string> directories;
	for (const std::string &word : arguments.words)
		std::ranges::move(trace::Trace::recordings_in(word), std::back_inserter(directories));
	const bool are_several = directories.size() > 1;
	if (are_several && arguments.report->of_one)
		throw Error("the report {} is of one recording of one host, and these are {}: name one of them",
			    arguments.report->name, directories.size());
	if (are_several && !arguments.plot.file.empty())
		throw CLI::ValidationError("--svg draws one trace: name one");
	if (are_several && arguments.json)
		fmt::print("[");
	for (const std::string &directory : directories) {
		const bool is_first = &directory == directories.data();
		if (are_several)
			arguments.trace = directory;
		if (are_several && arguments.json)
			fmt::print("{}", is_first ? "" : ",\n");
		else if (are_several && !arguments.csv && !arguments.folded)
			fmt::print("{}{}:\n", is_first ? "" : "\n", printable(directory));
		try {
			exit_code = std::max(exit_code, print_answer(arguments, {directory}, head));
		} catch (const Error &error) { // continue with the others
			if (!are_several)
				throw;
			std::fflush(stdout);
			print_error(error.what());
			if (arguments.json)
				fmt::print("null");
			exit_code = 1;
		}
	}
	if (are_several && arguments.json)
		fmt::print("]\n");
	return exit_code;
}

void add_path_options(CLI::App &command, ReportArguments &arguments)
{
	add_option(command, "--call", "NAME", arguments.call,
		   "of critical-path: what the time of all system calls of this name was made of, such as fsync");
	add_option(command, "--activity", "NAME", arguments.activity,
		   "of critical-path: the same of an activity or a function, as the report activities names it");
	command.add_flag("--bounded", arguments.bounded,
			 "of critical-path: return to who slept where the sleep began: what others did meanwhile");
	command.add_flag("--links", arguments.links, "of critical-path: print each link of the path, too");
}

void add_report_options(CLI::App &command, ReportArguments &arguments)
{
	add_option(command, "trace", "DIR... [WHAT]", arguments.words,
		   "trace directories, each reported separately; then a report's name")
	    ->required();
	add_tdl_option(command, arguments.tdl);
	command
	    .add_option(
		"--by", arguments.by,
		"print a row per process, thread, cpu, command or cgroup; of syscalls: process or command; of "
		"offcpu: thread, process, command or waker; of activities: process, thread, caller or argument; of "
		"segments: process, thread or cpu; of stacks: those on the cpu, offcpu (blocked), wait "
		"(blocked, and by whom it was ended), at a fault or other events; of requests: step or host")
	    ->check(CLI::IsMember(all_groupings()));
	add_option(command, "--every", "TIME", arguments.every,
		   "print ratios for each interval of this length, such as 100ms");
	add_selection(command, arguments.selection, "report only");
	command.add_flag("--all", arguments.all,
			 "of syscalls, offcpu and stacks of a recorded command: all threads, not only the command's");
	add_event_filter(command, arguments.selection, "of requests: only");
	add_option(command, "--key", "NAME,...", arguments.key,
		   "of requests: the parameter whose value the events of one have in common");
	add_option(command, "--sort", "COLUMN", arguments.sort, "sort by this column (default: CPU time or total)");
	add_option(command, "--top", "N", arguments.top, "print at most N rows (0: all; default in text: 40)")
	    ->check(row_count_error);
	command.add_flag("--json", arguments.json,
			 "print JSON: {rows, cpus, summary; ratios, measurements}, times in ns");
	command.add_flag("--csv", arguments.csv, "print comma-separated values, times in ns")->excludes("--json");
	command
	    .add_flag("--folded", arguments.folded,
		      "of stacks: a line for each, \"process;function;function COUNT\" (offcpu: microseconds); of "
		      "critical-path: \"sleeper in call;thread;what MICROSECONDS\"")
	    ->excludes("--json")
	    ->excludes("--csv");
	add_path_options(command, arguments);
	command.add_flag("--lines", arguments.lines,
			 "of stacks: tell lines of the source apart, where there is debug information");
	command.add_flag("--idle", arguments.idle,
			 "of samples: print how much of each CPU was idle, by count of samples and by time");
	command.add_flag("--virtual", arguments.is_virtual,
			 "of cpu: print times as if nobody had measured, too, each with the range that it is in");
	command.add_flag("--wide", arguments.wide, "print all columns, however wide the terminal is");
	command.add_flag("--legend", arguments.legend, "below each table print what its columns mean")
	    ->excludes("--json")
	    ->excludes("--csv")
	    ->excludes("--folded");
	add_plot_options(command, arguments.plot)->excludes("--json")->excludes("--csv")->excludes("--folded");
	add_debug_directories(command, arguments.debug_directories);
	add_option(command, "-o,--output", "FILE.html", arguments.output,
		   "of stacks: write flame graphs to this file, a page for a browser; of two traces the second, "
		   "coloured by how it differs from the first")
	    ->excludes("--json")
	    ->excludes("--csv")
	    ->excludes("--folded")
	    ->excludes("--sort")
	    ->excludes("--top")
	    ->excludes("--plot")
	    ->excludes("--svg");
	command.footer(
	    "WHAT is the report: cpu (default), syscalls, offcpu, critical-path, activities, ratios, segments,\n"
	    "samples, counts, stacks, triggers, requests; `help` describes them. A directory of such a name is\n"
	    "written ./cpu.\n"
	    "CPU%: of one CPU. user% to unkn%: parts of the row's CPU time. unattr: kernel or user, no token shows\n"
	    "which; unkn: after a loss or before the first token. runnable: ready to run, not running. --legend\n"
	    "says what each column means.\n"
	    "Examples:\n"
	    "  monitor report DIR\n"
	    "  monitor report DIR --by thread --sort runnable --top 10\n"
	    "  monitor report DIR syscalls --json\n"
	    "  monitor report DIR critical-path\n"
	    "  monitor report DIR --virtual --by command\n"
	    "  monitor report DIR --plot --svg cpu.svg\n"
	    "  monitor report DIR ratios --by command --csv\n"
	    "  monitor report DIR segments --by thread\n"
	    "  monitor report DIR activities --by thread\n"
	    "  monitor report DIR stacks --by offcpu\n"
	    "  monitor report DIR stacks -o flame.html\n"
	    "  monitor report RUN requests --key request --by host");
}

} // namespace

void add_report(CLI::App &app, int &exit_code)
{
	CLI::App *command =
	    app.add_subcommand("report", "show who used the CPUs, in which mode, and what they waited for");
	auto arguments = std::make_shared<ReportArguments>();
	add_report_options(*command, *arguments);
	command->callback([arguments, command, &exit_code] {
		if (command->count("--top") && arguments->top == 0)
			arguments->top = ~std::size_t(0);
		arguments->width = arguments->wide ? 0 : terminal_width();
		arguments->look = terminal_look();
		parse_report_name(*arguments);
		if (arguments->report == &reports::help_report)
			for (const reports::Report *report : all_reports())
				fmt::print("{:<15}{}\n", report->name, report->line);
		else if (!arguments->output.empty())
			exit_code = write_flame_graphs(*arguments);
		else
			exit_code = run_report(*arguments);
	});
}

} // namespace monitor
