// SPDX-License-Identifier: MIT
#include "report_requests.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "answers/requests/answer.h"
#include "answers/requests/json.h"
#include "answers/requests/tables.h"
#include "answers/requests/text.h"
#include "base/error.h"
#include "base/text.h"
#include "commands.h"
#include "open.h"
#include "problems.h"
#include "terminal.h"

namespace monitor {
namespace {

constexpr std::size_t slowest_by_default = 10;

requests::Collected collect(const ReportArguments &arguments, trace::Trace &trace)
{
	const trace::EventSelection selection = arguments.selection.events(trace);
	const std::optional<filter::Filter> filter = arguments.selection.event_filter(trace);
	requests::Question question;
	question.names = arguments.key;
	question.range = arguments.selection.range(trace, {trace.begin_time(), trace.end_time()});
	question.selection = &selection;
	question.filter = filter ? &*filter : nullptr;
	requests::Collected collected = requests::collect(trace, question);
	if (filter)
		tell_undecided(*filter);
	return collected;
}

report::Table arranged(report::Table table, const ReportArguments &arguments, std::size_t keep)
{
	if (!arguments.sort.empty())
		table.sort_by(table.column(arguments.sort));
	table.keep_top(keep);
	return table;
}

void print_answer(const requests::Answer &answer, const ReportArguments &arguments)
{
	const requests::By by = arguments.by == "host" ? requests::By::host : requests::By::step;
	const std::size_t rows = (by == requests::By::host ? answer.by_host : answer.steps).size();
	const bool is_text = !arguments.json && !arguments.csv;
	const std::size_t keep = std::min(rows, arguments.top ? arguments.top : is_text ? rows_in_text : rows);
	if (arguments.json)
		return fmt::print("{}\n",
				  requests::json_text(answer, arranged(requests::table(answer, by), arguments, keep)));
	if (arguments.csv)
		return fmt::print("{}", report::to_csv(arranged(requests::table(answer, by), arguments, keep)));
	fmt::print("{}{}{}{}\n{}", requests::head_text(answer),
		   report::to_text(arranged(requests::text_table(answer, by), arguments, keep), terminal_width()),
		   report::more_rows_text(rows - keep), requests::slowest_text(answer), requests::notes_text(answer));
}

} // namespace

int report_requests(const ReportArguments &arguments)
{
	trace::Trace trace = open_trace(arguments.words, arguments.tdl);
	expect_events(trace, "the report requests");
	requests::Collected collected = collect(arguments, trace);
	if (collected.requests.empty() && collected.crowded_keys == 0 && collected.long_events == 0)
		throw Error(fmt::format("no event with {} matches the options", readable(arguments.key)));
	const std::vector<requests::Point> points = collected.points;
	const requests::PathMaker maker(points, trace);
	requests::Answer answer =
	    requests::answer(std::move(collected), maker, arguments.top ? arguments.top : slowest_by_default);
	answer.key = arguments.key;
	answer.hosts = trace.machines();
	print_answer(answer, arguments);
	print_problems(trace.problems());
	return trace.problems().empty() ? 0 : 1;
}

} // namespace monitor
