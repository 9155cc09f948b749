// SPDX-License-Identifier: MIT
// The results of `record --count` and --time.
#include <algorithm>

#include <fmt/format.h>

#include "answers/report/counts_table.h"
#include "answers/report/times_table.h"
#include "base/error.h"
#include "base/escape.h"
#include "reading/analyze/recording_info.h"
#include "report.h"

namespace monitor::reports {
namespace {

// Sorts the tables that have the column of --sort, and keeps --top rows. Throws Error: none has it.
void sort_and_cut(std::vector<report::Table> &tables, const Question &question)
{
	bool is_sorted = question.sort.empty();
	for (report::Table &table : tables) {
		try {
			question.sort_rows(table);
			is_sorted = true;
		} catch (const Error &) {
			if (!is_sorted && &table == &tables.back())
				throw;
		}
		if (question.top)
			table.keep_top(question.top);
	}
}

// One table for all, by time; else one for counts and one for times.
std::vector<report::Table> tables_of(const Question &question, trace::Trace &trace, const analyze::RecordingInfo &info)
{
	std::vector<report::Table> tables;
	if (question.by == "time") {
		tables.push_back(report::counts_by_time(trace, info));
		return tables;
	}
	if (!info.counts.empty())
		tables.push_back(question.by == "cpu" ? report::counts_by_cpu(info) : report::counts_table(info));
	if (!info.times.empty())
		tables.push_back(question.by == "cpu" ? report::times_by_cpu(trace, info)
						      : report::times_table(trace, info));
	return tables;
}

std::string json_of(const std::vector<report::Table> &tables, const Question &question, const trace::Trace &trace,
		    const analyze::RecordingInfo &info)
{
	const bool has_counts = !info.counts.empty() || question.by == "time";
	std::string text = fmt::format("{{\"rows\": {}", has_counts ? report::to_json(tables.front()) : "[]");
	if (!info.times.empty() && question.by == "count")
		text += fmt::format(", \"times\": {}", report::times_json(trace, info));
	else if (!info.times.empty() && question.by == "cpu")
		text += fmt::format(", \"times\": {}", report::to_json(tables.back()));
	return text +
	       fmt::format(", \"counted_ns\": {}}}\n", info.counted.ns ? std::to_string(info.counted.ns) : "null");
}

// A chart per table, and the distribution of each time.
std::vector<plot::Chart> charts_of(const Question &question, std::vector<report::Table> tables,
				   const trace::Trace &trace, const analyze::RecordingInfo &info)
{
	if (!question.plot.is_asked())
		return {};
	if (question.by != "time")
		sort_and_cut(tables, question);
	std::vector<plot::Chart> charts;
	for (const report::Table &table : tables) {
		const bool has_column = std::ranges::any_of(table.columns, [&](const report::Column &column) {
			return column.key == question.sort || column.title == question.sort;
		});
		charts.push_back(plot::chart_of(table, {"report counts", has_column ? question.sort : ""}));
	}
	if (question.by == "count")
		for (const report::Bins &bins : report::times_bins(trace, info))
			charts.push_back(plot::chart_of(bins, "report counts"));
	return charts;
}

[[noreturn]] void throw_damaged(const char *what, const std::string &name)
{
	throw Error("the {} {} in .monitor/recording.json is damaged, so its numbers are unknown; `monitor check` "
		    "lists what else is wrong",
		    what, printable(name));
}

Answer answer_of_counts(const Question &question, trace::Trace &trace)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	if (info.counts.empty() && info.times.empty())
		throw Error(!info.present ? "only a recording has counts: name one, not several that were merged"
			    : info.complete()
				? "this recording counted nothing: record with --count NAME=EXPRESSION or --time "
				  "'NAME=START .. END per tid'"
				: "this recording was not completed, so its totals are unknown; the tables `count` and "
				  "`timed` of `monitor query` have what it recorded with --every");
	for (const analyze::EventCount &count : info.counts)
		if (count.is_damaged)
			throw_damaged("count", count.name);
	for (const analyze::EventTime &time : info.times)
		if (time.is_damaged)
			throw_damaged("time", time.name);
	if (!question.selection.is_all())
		throw Error("counts are those of the whole recording: leave out the selection");
	std::vector<report::Table> tables = tables_of(question, trace, info);
	Answer answer;
	answer.charts = charts_of(question, tables, trace, info);
	sort_and_cut(tables, question);
	answer.notes = (info.times.empty() ? "" : report::times_notes(info)) + report::counted_text(info);
	if (question.json) {
		answer.text = json_of(tables, question, trace, info);
		return answer;
	}
	if (question.plot.in_text)
		answer.text = plot::to_text(answer.charts, question.look);
	for (std::size_t i = 0; i < tables.size() && !question.plot.in_text; ++i)
		answer.text +=
		    (i ? "\n" : "") + (question.csv ? report::to_csv(tables[i]) : question.text_of(tables[i]));
	if (!question.csv)
		answer.text += answer.notes;
	return answer;
}

} // namespace

const Report counts_report{
    "counts", "what `record --count` counted and --time timed", {"count", "cpu", "time"}, true, answer_of_counts};

} // namespace monitor::reports
