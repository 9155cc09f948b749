// SPDX-License-Identifier: MIT
// `monitor check`: is this trace true? Prints each statement of reading/analyze/check.cpp; exit code 0 only if all
// hold.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "answers/report/table.h"
#include "base/escape.h"
#include "base/json.h"
#include "check_counts.h"
#include "check_order.h"
#include "check_rules.h"
#include "check_states.h"
#include "commands.h"
#include "message_options.h"
#include "number_of_rows.h"
#include "open.h"
#include "reading/analyze/check.h"
#include "reading/events/trace.h"
#include "selection.h"
#include "tdl_option.h"

namespace monitor {
namespace {

struct CheckArguments {
	std::vector<std::string> directories;
	std::string tdl, key;
	std::vector<std::string> rules, sync;
	std::size_t violations = 5;
	bool quiet = false, json = false;
};

void print_text(const std::vector<analyze::Statement> &statements, bool quiet)
{
	const bool colour = ::isatty(STDOUT_FILENO);
	for (const analyze::Statement &statement : statements) {
		const bool fails = statement.verdict == analyze::Verdict::fails;
		if (quiet && !fails)
			continue;
		fmt::print("{}{:<13}{}  {}\n", colour && fails ? "\033[31m" : "", analyze::word(statement.verdict),
			   colour && fails ? "\033[0m" : "", printable(statement.text));
	}
}

void print_json(const std::vector<analyze::Statement> &statements)
{
	auto all = nlohmann::ordered_json::array();
	for (const analyze::Statement &statement : statements)
		all.push_back(
		    {{"id", statement.id}, {"verdict", analyze::word(statement.verdict)}, {"text", statement.text}});
	fmt::print("{}\n", json_dump(all, 1));
}

// Is it a fleet's run? Of its shards, one has the exchanges of all hosts.
bool has_exchanges(const std::vector<std::string> &directories)
{
	std::error_code error;
	return directories.size() == 1 &&
	       std::filesystem::is_directory(std::filesystem::path(directories.front()) / ".monitor" / "clocks", error);
}

int run_check(const CheckArguments &arguments)
{
	trace::Trace trace = open_trace(arguments.directories, arguments.tdl);
	if (!arguments.rules.empty())
		expect_events(trace, "a check of rules");
	if (!arguments.rules.empty())
		return check_rules(trace, arguments.rules, arguments.violations, arguments.quiet, arguments.json);
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	auto statements = analyze::check(trace, info);
	check_counts(trace, info, statements);
	check_states(trace, info, statements);
	if (trace.machines().size() > 1)
		check_order(trace, statements);
	if (trace.machines().size() > 1 && has_exchanges(arguments.directories))
		check_clock_loops(arguments.directories.front(), statements);
	if (!arguments.sync.empty())
		check_causality(trace, {arguments.sync[0], arguments.sync[1], arguments.key}, statements);
	std::size_t failed = 0;
	for (const analyze::Statement &statement : statements)
		failed += statement.verdict == analyze::Verdict::fails;
	if (arguments.json)
		print_json(statements);
	else
		print_text(statements, arguments.quiet);
	if (failed && !arguments.json)
		fmt::print("{} of {} statements about this trace do not hold\n", failed, statements.size());
	return failed ? 1 : 0;
}

} // namespace

void add_check(CLI::App &app, int &exit_code)
{
	CLI::App *command =
	    app.add_subcommand("check", "check whether a trace is true; exit code 0 only if everything holds");
	auto arguments = std::make_shared<CheckArguments>();
	command->add_option("trace", arguments->directories, "trace directories; several are read as one")
	    ->required()
	    ->option_text("DIR...");
	add_tdl_option(*command, arguments->tdl);
	command->add_flag("-q,--quiet", arguments->quiet, "print only what fails");
	command->add_flag("--json", arguments->json, "print a JSON array of {id, verdict, text}");
	command
	    ->add_option("--rules", arguments->rules, "check these rules instead: a file, or the name of shipped ones")
	    ->allow_extra_args(false)
	    ->option_text("FILE");
	command->add_option("--violations", arguments->violations, "show at most N violations per rule (default: 5)")
	    ->needs("--rules")
	    ->option_text("N")
	    ->check(number_of_rows);
	add_message_options(*command, arguments->sync, arguments->key,
			    "also check that no message between hosts arrives before it was sent");
	refuse_selection(*command, "a check is of a whole trace; monitor report shows a part of it");
	refuse_option(*command, "--filter", "a check is of a whole trace; monitor list shows a part of it");
	command->footer(
	    "Compares tokens with the probes' counts and with the kernel's own figures, and checks order, pairs,\n"
	    "completeness and clock. Exit code: 0 if everything holds, 1 if something does not.\n"
	    "Examples:\n"
	    "  monitor check DIR\n"
	    "  monitor check -q DIR && echo true\n"
	    "  monitor check DIR --rules kernel\n"
	    "  monitor check RUN --sync 'name == \"send\"' 'name == \"receive\"' --key message");
	command->callback([arguments, &exit_code] { exit_code = run_check(*arguments); });
}

} // namespace monitor
