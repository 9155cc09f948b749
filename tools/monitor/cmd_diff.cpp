// SPDX-License-Identifier: MIT
// `monitor diff`: compares two recordings, or two groups of recordings (answers/diff/).
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "answers/diff/counted.h"
#include "answers/diff/recordings.h"
#include "answers/report/table.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "commands.h"
#include "common_options.h"
#include "open.h"
#include "problems.h"
#include "progress_line.h"
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

std::vector<std::string> kind_names()
{
	std::vector<std::string> names;
	for (std::size_t i = 0; i < diff::kinds; ++i)
		names.emplace_back(diff::name_of(static_cast<diff::RowKind>(i)));
	return names;
}

std::set<diff::RowKind> chosen_kinds(const std::vector<std::string> &names)
{
	std::set<diff::RowKind> chosen;
	for (std::size_t i = 0; i < diff::kinds; ++i)
		if (std::ranges::find(names, diff::name_of(static_cast<diff::RowKind>(i))) != names.end())
			chosen.insert(static_cast<diff::RowKind>(i));
	return chosen;
}

diff::Printed read_and_compare(const DiffArguments &arguments, const std::vector<diff::Part> &before,
			       const std::vector<diff::Part> &after)
{
	ProgressLine line;
	const std::size_t all = before.size() + after.size();
	diff::ReadingOptions options;
	options.chosen = chosen_kinds(arguments.by);
	options.open = [](const std::string &directory) { return open_trace({directory}); };
	options.progress = [&](const diff::Part &part, std::size_t number, double done) {
		line.show(fmt::format("monitor: reading {} ({} of {}), {:.0f} %", printable(part.text()), number + 1,
				      all, done * 100));
	};
	return diff::compare_recordings(before, after, options);
}

int print_counts(const DiffArguments &arguments, const std::vector<diff::Part> &before,
		 const std::vector<diff::Part> &after)
{
	if (!arguments.by.empty())
		throw Error("only the numbers of events were recorded (--count-only), which have one kind of rows: "
			    "leave out --by");
	int exit_code = 0;
	diff::ComparedCounts compared = diff::compare_counts(before, after, [&](const std::string &directory) {
		trace::Trace trace = open_trace({directory});
		exit_code |= print_problems(trace.problems());
		return trace;
	});
	const std::size_t all = compared.table.rows.size(), top = arguments.top ? arguments.top : all;
	compared.table.keep_top(top);
	if (arguments.json)
		fmt::print("{{\"notes\": {},\n\"rows\": {}}}\n", json_dump(nlohmann::ordered_json(compared.notes)),
			   report::to_json(compared.table));
	else
		fmt::print("{}", arguments.csv ? report::to_csv(compared.table)
					       : report::to_text(compared.table, terminal_width()) +
						     report::more_rows_text(all - std::min(all, top)));
	for (const std::string &note : compared.notes)
		if (!arguments.json)
			fmt::print(arguments.csv ? stderr : stdout, "{}\n", note);
	return exit_code;
}

// Returns the exit code.
int run_diff(const DiffArguments &arguments)
{
	const std::vector<diff::Part> before = diff::parse_side(arguments.before),
				      after = diff::parse_side(arguments.after);
	if (diff::have_counts_only(before, after))
		return print_counts(arguments, before, after);
	const diff::Printed printed = read_and_compare(arguments, before, after);
	const std::size_t top = arguments.top ? arguments.top : ~std::size_t(0);
	if (arguments.json)
		fmt::print("{}", diff::comparison_json(printed, top));
	else if (arguments.csv)
		fmt::print("{}", diff::comparison_csv(printed, top));
	else
		fmt::print("{}", diff::comparison_text(printed, top, terminal_width()));
	int exit_code = 0;
	for (const diff::PrintedSide *side : {&printed.before, &printed.after})
		for (const diff::Measured &each : side->repetitions)
			exit_code |= print_problems(each.problems);
	return exit_code;
}

} // namespace

void add_diff(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("diff", "show what changed from one recording to another");
	auto arguments = std::make_shared<DiffArguments>();
	add_option(*command, "before", "BEFORE", arguments->before,
		   "a trace directory, a window of one (A@1s..2s), or repetitions (A1,A2,A3,A4)")
	    ->required();
	add_option(*command, "after", "AFTER", arguments->after, "the same, to compare with it")->required();
	add_option(*command, "--by", "KIND,...", arguments->by,
		   fmt::format("show only these rows, and all of them: {}", fmt::join(kind_names(), ", ")))
	    ->delimiter(',')
	    ->check(CLI::IsMember(kind_names()));
	add_option(*command, "--top", "N", arguments->top,
		   "print at most N rows of each ranking (0: all; default in text: 20)")
	    ->check(row_count_error);
	command->add_flag("--json", arguments->json,
			  "print JSON: {before, after, notes, totals, rows, tests}, times in ns");
	command->add_flag("--csv", arguments->csv, "print comma-separated values, times in ns")->excludes("--json");
	command->footer(
	    "Rows are matched by the names of command and thread. In the first ranking each time is counted once:\n"
	    "CPU time by mode and by system call, and of the recorded command (*) waiting and sleeping.\n"
	    "share%: the row's part of the sum of all absolute differences. -: not known.\n"
	    "p needs at least 4 repetitions of each side.\n"
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
