// SPDX-License-Identifier: MIT
// The report `requests`: which host made a request slow.
#include <optional>

#include "answer.h"
#include "answers/reports/report.h"
#include "base/error.h"
#include "base/text.h"
#include "json.h"
#include "step_tables.h"
#include "text.h"

namespace monitor::reports {
namespace {

constexpr std::size_t slowest_by_default = 10;

requests::Collected collect(const Question &options, trace::Trace &trace)
{
	const trace::EventSelection selection = options.selection.events(trace);
	const std::optional<filter::Filter> filter = options.selection.event_filter(trace);
	requests::Question question;
	question.names = options.key;
	question.range = options.selection.range(trace, {trace.first_time(), trace.end_time()});
	question.selection = &selection;
	question.filter = filter ? &*filter : nullptr;
	requests::Collected collected = requests::collect(trace, question);
	if (filter)
		selection::print_undecided(*filter);
	return collected;
}

std::string text_of(const requests::Answer &answer, const Question &options)
{
	const requests::By by = options.by == "host" ? requests::By::host : requests::By::step;
	report::Table table = options.is_text() ? requests::text_table(answer, by) : requests::table(answer, by);
	options.sort_rows(table);
	const std::size_t hidden = options.keep_rows(table);
	if (!options.is_text())
		return options.csv ? report::to_csv(table) : requests::json_text(answer, table) + "\n";
	return requests::head_text(answer) + options.text_of(table, report::more_rows_text(hidden)) +
	       requests::slowest_text(answer) + "\n" + requests::notes_text(answer);
}

Answer answer_of_requests(const Question &options, trace::Trace &trace)
{
	requests::Collected collected = collect(options, trace);
	if (collected.requests.empty() && collected.crowded_keys == 0 && collected.long_events == 0)
		throw Error("no event with {} matches the options", readable(options.key));
	const std::vector<requests::Point> points = collected.points;
	const requests::PathMaker maker(points, trace);
	requests::Answer answer =
	    requests::answer(std::move(collected), maker, options.top ? options.top : slowest_by_default);
	answer.key = options.key;
	answer.hosts = trace.machines();
	Answer printed;
	printed.text = text_of(answer, options);
	return printed;
}

} // namespace

const Report requests_report{"requests",
			     "requests across hosts: their steps, the slowest ones, and how sure that is (--key)",
			     {"step", "host"},
			     false,
			     answer_of_requests,
			     false,
			     true};

} // namespace monitor::reports
