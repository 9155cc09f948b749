// SPDX-License-Identifier: MIT
// `monitor diff`: what changed from one recording to another, or from some to others. answers/diff/ folds and compares.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "answers/diff/comparison_table.h"
#include "answers/diff/measure.h"
#include "answers/diff/side.h"
#include "base/error.h"
#include "base/escape.h"
#include "commands.h"
#include "number_of_rows.h"
#include "open.h"
#include "problems.h"
#include "report_stacks.h"
#include "terminal.h"

namespace monitor {
namespace {

struct DiffArguments {
	std::string before, after;
	std::vector<std::string> by;
	std::size_t top = 0;
	bool json = false, csv = false;
};

constexpr std::size_t default_rows = 20; // of each ranking, in text

const std::vector<std::string> kind_names = {"cpu", "calls", "waits", "activities", "stacks"};

std::set<diff::Kind> chosen_kinds(const std::vector<std::string> &names)
{
	std::set<diff::Kind> chosen;
	for (std::size_t i = 0; i < kind_names.size(); ++i)
		if (std::ranges::find(names, kind_names[i]) != names.end())
			chosen.insert(static_cast<diff::Kind>(i));
	return chosen;
}

// A line that is written over, if a person looks at standard error.
class ReadingLine {
public:
	explicit ReadingLine(std::size_t all) : all_(all), is_shown_(::isatty(STDERR_FILENO) != 0) {}
	~ReadingLine()
	{
		if (is_shown_)
			print_note("\r\033[K");
	}
	ReadingLine(const ReadingLine &) = delete;

	void start(const std::string &name)
	{
		name_ = name;
		++number_;
		show(0);
	}
	void show(double part) const
	{
		if (is_shown_)
			print_note(fmt::format("\rmonitor: reading {} ({} of {}), {:.0f} %\033[K", printable(name_),
					       number_, all_, part * 100));
	}

private:
	std::size_t all_, number_ = 0;
	bool is_shown_;
	std::string name_;
};

diff::NameStacks namer(const std::string &directory)
{
	return
	    [directory](const analyze::RecordingInfo &info, const trace::Clock &clock, const analyze::Machine &machine,
			const analyze::StackFold &fold, const diff::WithTree &with_tree) {
		    NamedStacks stacks(directory, clock, info, machine, fold, {});
		    with_tree(stacks.tree(report::StackBy::cpu));
	    };
}

// Reads each repetition; returns whether all of it could be read.
bool measure_side(const std::vector<diff::Part> &parts, const diff::Plan &plan, ReadingLine &line,
		  diff::PrintedSide &side)
{
	bool is_good = true;
	for (const diff::Part &part : parts) {
		trace::Trace trace = open_trace({part.directory});
		line.start(part.text());
		side.repetitions.push_back(
		    diff::measure(trace, part, {plan, namer(part.directory), [&](double done) { line.show(done); }}));
		is_good &= trace.problems().empty();
		print_problems(trace.problems());
	}
	return is_good;
}

void describe(const analyze::RecordingInfo &info, diff::PrintedSide &side)
{
	side.command = info.short_command();
	side.host = info.host;
	side.kernel = info.kernel;
}

int run_diff(const DiffArguments &arguments)
{
	const std::vector<diff::Part> before = diff::parse_side(arguments.before),
				      after = diff::parse_side(arguments.after);
	std::vector<diff::Input> inputs;
	for (const std::vector<diff::Part> *side : {&before, &after})
		for (const diff::Part &part : *side)
			inputs.push_back(diff::input_of(trace::Trace::open(part.directory), part));
	diff::Printed printed;
	describe(inputs.front().info, printed.before);
	describe(inputs[before.size()].info, printed.after);
	printed.notes = diff::differences(inputs);
	const std::set<diff::Kind> chosen = chosen_kinds(arguments.by);
	const auto is_chosen = [&](diff::Kind kind) { return chosen.empty() || chosen.contains(kind); };
	diff::Plan plan = diff::plan_of(inputs);
	plan.with_activities = is_chosen(diff::Kind::activities);
	plan.with_stacks = is_chosen(diff::Kind::stacks);
	bool is_good = true;
	{
		ReadingLine line(inputs.size());
		is_good &= measure_side(before, plan, line, printed.before);
		is_good &= measure_side(after, plan, line, printed.after);
	}
	printed.comparison = diff::compare(printed.before.repetitions, printed.after.repetitions, plan.ours, chosen);
	const std::size_t all = ~std::size_t(0);
	const std::size_t top = arguments.top ? arguments.top : all;
	if (arguments.json)
		fmt::print("{}", diff::comparison_json(printed, top));
	else if (arguments.csv)
		fmt::print("{}", diff::comparison_csv(printed, top));
	else
		fmt::print("{}", diff::comparison_text(printed, top, terminal_width()));
	return is_good ? 0 : 1;
}

} // namespace

void add_diff(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("diff", "show what changed from one recording to another");
	auto arguments = std::make_shared<DiffArguments>();
	command
	    ->add_option("before", arguments->before,
			 "a trace directory, a window of one (A@1s..2s), or repetitions (A1,A2,A3,A4)")
	    ->required()
	    ->option_text("BEFORE");
	command->add_option("after", arguments->after, "the same, to compare with it")
	    ->required()
	    ->option_text("AFTER");
	command
	    ->add_option("--by", arguments->by,
			 "show only these rows, and all of them: cpu, calls, waits, activities, stacks")
	    ->delimiter(',')
	    ->allow_extra_args(false)
	    ->option_text("KIND,...")
	    ->check(CLI::IsMember(kind_names));
	command
	    ->add_option("--top", arguments->top, "print at most N rows of each ranking (0: all; default in text: 20)")
	    ->option_text("N")
	    ->check(number_of_rows);
	command->add_flag("--json", arguments->json,
			  "print JSON: {before, after, notes, totals, rows, tests}, times in ns");
	command->add_flag("--csv", arguments->csv, "print comma-separated values, times in ns")->excludes("--json");
	command->footer(
	    "Rows are matched by the names of command and thread. The first ranking has no time twice: CPU\n"
	    "time by mode and by system call, and of the recorded command (*) waiting and sleeping.\n"
	    "share%: of the sizes of all differences. -: not known. p needs at least 4 repetitions of each.\n"
	    "Exit code: 0, or 1 if parts of a trace are damaged.\n"
	    "Examples:\n"
	    "  monitor diff OLD NEW\n"
	    "  monitor diff DIR@1s..2s DIR@5s..6s\n"
	    "  monitor diff OLD1,OLD2,OLD3,OLD4 NEW1,NEW2,NEW3,NEW4\n"
	    "  monitor diff OLD NEW --by waits --top 0");
	command->callback([arguments, command, &exit_code] {
		if (command->count("--top") == 0 && !arguments->json && !arguments->csv)
			arguments->top = default_rows;
		exit_code = run_diff(*arguments);
	});
}

} // namespace monitor
