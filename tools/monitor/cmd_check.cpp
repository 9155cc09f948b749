// SPDX-License-Identifier: MIT
// `monitor check`: verifies a trace against independent counts, or against rules. Exit code 0 only if all checks pass.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "answers/check/check.h"
#include "answers/check/order.h"
#include "answers/check/rules.h"
#include "base/escape.h"
#include "base/json.h"
#include "commands.h"
#include "common_options.h"
#include "fleet/clocks/clock_loops.h"
#include "open.h"
#include "problems.h"
#include "reading/events/trace.h"
#include "selection.h"

namespace monitor {
namespace {

struct CheckArguments {
	std::vector<std::string> directories;
	std::string tdl, key;
	std::vector<std::string> rules, sync;
	std::size_t violations = 5;
	bool quiet = false, json = false;
};

void print_verdict(const char *word, std::size_t width, bool fails, const std::string &text)
{
	const bool colour = fails && ::isatty(STDOUT_FILENO);
	fmt::print("{}{:<{}}{}  {}\n", colour ? "\033[31m" : "", word, width, colour ? "\033[0m" : "", printable(text));
}

void print_json(const std::vector<check::Statement> &statements)
{
	auto all = nlohmann::ordered_json::array();
	for (const check::Statement &statement : statements)
		all.push_back(
		    {{"id", statement.id}, {"verdict", check::word(statement.verdict)}, {"text", statement.text}});
	fmt::print("{}\n", json_dump(all, 1));
}

void print_text(const std::vector<check::Statement> &statements, bool quiet)
{
	std::size_t failed = 0;
	for (const check::Statement &statement : statements) {
		const bool fails = statement.verdict == check::Verdict::fails;
		failed += fails;
		if (fails || !quiet)
			print_verdict(check::word(statement.verdict), 13, fails, statement.text);
	}
	if (failed)
		fmt::print("{} of {} statements about this trace do not hold\n", failed, statements.size());
}

const char *word(const rules::Outcome &outcome)
{
	using Verdict = rules::Outcome::Verdict;
	return outcome.verdict == Verdict::holds ? "ok" : outcome.verdict == Verdict::fails ? "FAILS" : "not checked";
}

void print_outcome(const rules::Outcome &outcome, bool fails)
{
	print_verdict(word(outcome), 11, fails, outcome.text);
	if (!fails)
		return;
	for (const rules::Shown &shown : outcome.shown) {
		fmt::print("    {}:\n", printable(shown.what));
		for (const std::string &line : shown.events)
			fmt::print("        {}\n", line); // already escaped
	}
	if (outcome.tally.violated > outcome.shown.size())
		fmt::print("    and {} more; --violations N shows more\n",
			   outcome.tally.violated - outcome.shown.size());
}

nlohmann::ordered_json to_json(const rules::Outcome &outcome)
{
	auto violations = nlohmann::ordered_json::array();
	for (const rules::Shown &shown : outcome.shown) {
		auto events = nlohmann::ordered_json::array();
		for (const std::string &line : shown.events) {
			auto event = parse_json<nlohmann::ordered_json>(line);
			events.push_back(event.is_discarded() ? nlohmann::ordered_json(line) : std::move(event));
		}
		violations.push_back({{"what", shown.what}, {"events", std::move(events)}});
	}
	const rules::Tally &tally = outcome.tally;
	return {{"id", outcome.name},         {"verdict", word(outcome)},   {"text", outcome.text},
		{"cases", tally.judged},      {"violated", tally.violated}, {"open", tally.open},
		{"cut", tally.cut},           {"unknown", tally.unknown},   {"undecided", tally.undecided},
		{"too_many", tally.too_many}, {"violations", violations}};
}

int check_rules(const CheckArguments &arguments, trace::Trace &trace)
{
	expect_events(trace, "a check of rules");
	const std::vector<rules::Outcome> outcomes =
	    check::judge_rules(trace, arguments.rules, {arguments.violations, arguments.json});
	std::size_t failed = 0;
	auto all = nlohmann::ordered_json::array();
	for (const rules::Outcome &outcome : outcomes) {
		const bool fails = outcome.verdict == rules::Outcome::Verdict::fails;
		failed += fails;
		if (arguments.json)
			all.push_back(to_json(outcome));
		else if (fails || !arguments.quiet)
			print_outcome(outcome, fails);
	}
	if (arguments.json)
		fmt::print("{}\n", json_dump(all, 1));
	else if (failed)
		fmt::print("{} of {} rules do not hold\n", failed, outcomes.size());
	return print_problems(trace.problems()) || failed ? 1 : 0;
}

int run_check(const CheckArguments &arguments)
{
	trace::Trace trace = open_trace(arguments.directories, arguments.tdl);
	if (!arguments.rules.empty())
		return check_rules(arguments, trace);
	check::Statements statements = check::judge(trace, analyze::recording_of(trace));
	if (arguments.directories.size() == 1)
		fleet::judge_clock_loops(trace, arguments.directories.front(), statements);
	if (!arguments.sync.empty())
		check::judge_causality(trace, {arguments.sync[0], arguments.sync[1], arguments.key}, statements);
	arguments.json ? print_json(statements) : print_text(statements, arguments.quiet);
	return std::ranges::count(statements, check::Verdict::fails, &check::Statement::verdict) ? 1 : 0;
}

} // namespace

void add_check(CLI::App &app, int &exit_code)
{
	CLI::App *command =
	    app.add_subcommand("check", "check whether a trace is true; exit code 0 only if everything holds");
	auto arguments = std::make_shared<CheckArguments>();
	add_traces(*command, arguments->directories, arguments->tdl);
	command->add_flag("-q,--quiet", arguments->quiet, "print only what fails");
	command->add_flag("--json", arguments->json, "print a JSON array of {id, verdict, text}");
	add_option(*command, "--rules", "FILE", arguments->rules,
		   "check these rules instead: a file, or the name of shipped ones");
	add_option(*command, "--violations", "N", arguments->violations,
		   "show at most N violations per rule (default: 5)")
	    ->needs("--rules")
	    ->check(row_count_error);
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
