// SPDX-License-Identifier: MIT
// `monitor explain`: explains why a recorded program was slow (answers/explain/).
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "answers/explain/explain.h"
#include "answers/explain/slow_activities.h"
#include "base/error.h"
#include "commands.h"
#include "common_options.h"
#include "open.h"
#include "problems.h"
#include "selection.h"
#include "terminal.h"

namespace monitor {
namespace {

struct ExplainArguments : explain::Question {
	std::string tdl, activity, call, key;

	bool compares() const { return !activity.empty() || !call.empty() || !key.empty(); }
	std::size_t slowest = 10;
	bool json = false;
};

int run_explain(const ExplainArguments &arguments)
{
	const std::vector<std::string> recordings = trace::Trace::recordings_in(arguments.directory);
	if (recordings.size() > 1)
		throw Error("{} has recordings of {} hosts, and an explanation is of one: name the directory of one of "
			    "them, such as {}",
			    arguments.directory, recordings.size(), recordings.front());
	trace::Trace trace = open_trace(recordings, arguments.tdl);
	if (arguments.compares()) {
		expect_events(trace, "a comparison of activities");
		const explain::SlowActivities found = explain::slow_activities(
		    trace, {arguments.selection, arguments.activity, arguments.call, arguments.key, arguments.slowest},
		    explain::load_thresholds());
		fmt::print("{}", arguments.json ? to_json(found) : to_text(found, arguments.directory));
		return print_problems(trace.problems());
	}
	const explain::Explanation answer = explain::explain(trace, arguments);
	fmt::print("{}", arguments.json ? to_json(answer) : to_text(answer, terminal_width()));
	return print_problems(trace.problems());
}

} // namespace

void add_explain(CLI::App &app, int &exit_code)
{
	CLI::App *command =
	    app.add_subcommand("explain", "say why it was slow: what the time was made of, in sentences");
	auto arguments = std::make_shared<ExplainArguments>();
	add_option(*command, "trace", "DIR", arguments->directory, "a trace directory")->required();
	add_tdl_option(*command, arguments->tdl);
	add_selection(*command, arguments->selection, "explain only");
	command->get_option("--cpu")->description("refused: a path leads over all CPUs");
	CLI::Option *const call =
	    add_option(*command, "--call", "NAME", arguments->call,
		       "what the slowest system calls of this name did that ordinary ones did not, such as fsync");
	CLI::Option *const activity =
	    add_option(*command, "--activity", "NAME", arguments->activity,
		       "the same of an activity or a function, as the report activities names it")
		->excludes(call);
	add_option(*command, "--key", "NAME,...", arguments->key,
		   "the same of requests: events of programs with the same values of these parameters")
	    ->excludes(call)
	    ->excludes(activity);
	add_option(
	    *command, "--slowest", "N", arguments->slowest,
	    "how many of the slowest --call, --activity and --key compare (default: 10), at most a quarter of all")
	    ->check(CLI::Range(1, 1'000'000));
	command->add_flag("--json", arguments->json, "print JSON: {elapsed_ns, bound, findings, looked_for}");
	command->footer(
	    "Of a recorded command, its time from exec to exit; of a thread (--tid) or a process (--pid) that\n"
	    "one's; else of the machine. Each sentence is followed by a command that shows more.\n"
	    "Exit code: 0, or 1 if it cannot be explained or parts of the trace are damaged.\n"
	    "Examples:\n"
	    "  monitor explain DIR\n"
	    "  monitor explain DIR --from 1.5 --to 2\n"
	    "  monitor explain DIR --pid 4711\n"
	    "  monitor explain DIR --call fsync --slowest 20\n"
	    "  monitor explain DIR --key request\n"
	    "  monitor explain DIR --json");
	command->callback([arguments, command, &exit_code] {
		if (command->count("--slowest") && !arguments->compares())
			throw CLI::ValidationError("--slowest: of what? name it with --call, --activity or --key");
		if (!arguments->selection.cpus.empty())
			throw CLI::ValidationError(
			    "--cpu: a path leads over all CPUs, so `explain` can only be limited to "
			    "times and threads");
		exit_code = run_explain(*arguments);
	});
}

} // namespace monitor
