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

requests::Collected collect(const Question &asked, trace::Trace &trace)
{
	const trace::EventSelection selection = asked.selection.events(trace);
	const std::optional<filter::Filter> filter = asked.selection.event_filter(trace);
	requests::Question question;
	question.names = asked.key;
	question.range = asked.selection.range(trace, {trace.first_time(), trace.end_time()});
	question.selection = &selection;
	question.filter = filter ? &*filter : nullptr;
	requests::Collected collected = requests::collect(trace, question);
	if (filter)
		selection::print_undecided(*filter);
	return collected;
}

std::string text_of(const requests::Answer &answer, const Question &asked)
{
	const requests::By by = asked.by == "host" ? requests::By::host : requests::By::step;
	report::Table table = asked.is_text() ? requests::text_table(answer, by) : requests::table(answer, by);
	asked.sort_rows(table);
	const std::size_t hidden = asked.keep_rows(table);
	if (!asked.is_text())
		return asked.csv ? report::to_csv(table) : requests::json_text(answer, table) + "\n";
	return requests::head_text(answer) + asked.text_of(table, report::more_rows_text(hidden)) +
	       requests::slowest_text(answer) + "\n" + requests::notes_text(answer);
}

Answer answer_of_requests(const Question &asked, trace::Trace &trace)
{
	requests::Collected collected = collect(asked, trace);
	if (collected.requests.empty() && collected.crowded_keys == 0 && collected.long_events == 0)
		throw Error("no event with {} matches the options", readable(asked.key));
	const std::vector<requests::Point> points = collected.points;
	const requests::PathMaker maker(points, trace);
	requests::Answer answer =
	    requests::answer(std::move(collected), maker, asked.top ? asked.top : slowest_by_default);
	answer.key = asked.key;
	answer.hosts = trace.machines();
	Answer printed;
	printed.text = text_of(answer, asked);
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
