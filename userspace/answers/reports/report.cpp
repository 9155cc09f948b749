// SPDX-License-Identifier: MIT
#include "report.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monitor::reports {

const Report help_report{"help", "this list", {}, true, nullptr};

void Question::sort_rows(report::Table &table) const
{
	if (!sort.empty())
		table.sort_by(table.column(sort));
}

std::size_t Question::keep_rows(report::Table &table) const
{
	const std::size_t all = table.rows.size(), keep = std::min(all, top         ? top
									: is_text() ? report::rows_in_text
										    : all);
	table.keep_top(keep);
	return all - keep;
}

std::string Question::text_of(report::Table table, const std::string &below) const
{
	const std::vector<std::string> left_out =
	    width ? report::fit_columns(table, width) : std::vector<std::string>();
	return report::to_text(table, width) +
	       (left_out.empty() ? "" : fmt::format("--wide adds {}\n", fmt::join(left_out, ", "))) + below +
	       (legend ? "\n" + report::legend_text(table) : "");
}

namespace {

// Each report has its own groupings.
std::string why_not_by(const Question &question, std::span<const Report *const> all)
{
	const Report &report = *question.report;
	const std::string &by = question.by;
	const auto has_grouping = [&](const Report *other) {
		return std::ranges::find(other->by, by) != other->by.end();
	};
	if (report.by.empty())
		return fmt::format("the report {} has rows of its own: leave out --by", report.name);
	if (has_grouping(&report))
		return "";
	const auto other = std::ranges::find_if(all, has_grouping);
	if (std::ranges::find(usual_groupings, by) == usual_groupings.end() && other != all.end())
		return fmt::format("--by {} needs the report {}", by, (*other)->name);
	return fmt::format("{} can be grouped by {} or {}, not by {}", report.name,
			   fmt::join(report.by.begin(), report.by.end() - 1, ", "), report.by.back(), by);
}

} // namespace

void show_times(report::Table &table, const Question &question, const trace::Trace &trace)
{
	if (!question.is_text() || !question.selection.is_by_clock())
		return;
	const trace::TimeText times = question.selection.time_text(trace);
	table.columns.front().unit = report::Unit::text;
	for (auto &row : table.rows)
		row.front() = times(trace.from_begin_ns(static_cast<std::int64_t>(*report::number_of(row.front()))));
}

// Not every selection applies to each report: some figures have no CPU, others no thread; virtual clocks run over the
// whole recording; requests are found by a key, among all events.
std::string why_unfit(Question &question, std::size_t traces, std::span<const Report *const> all)
{
	const Question &q = question;
	const auto is = [&](std::string_view name) { return q.report->name == name; };
	const bool of_stacks = is("stacks"), of_path = is("critical-path"), of_requests = is("requests"),
		   is_virtual = q.is_virtual;
	const bool is_drawn = q.plot.is_asked(), has_threads = !q.selection.threads.is_all();
	const bool has_cpus = !q.selection.cpus.empty(),
		   has_times = !q.selection.from.empty() || !q.selection.to.empty();
	const std::pair<bool, const char *> unfit[] = {
	    {q.folded && !of_stacks && !of_path, "--folded needs the report stacks or critical-path"},
	    {q.bounded && !of_path, "--bounded needs the report critical-path"},
	    {q.links && !of_path, "--links needs the report critical-path"},
	    {(!q.call.empty() || !q.activity.empty()) && !of_path,
	     "--call and --activity need the report critical-path"},
	    {!q.call.empty() && !q.activity.empty(), "--call and --activity: name one of them"},
	    {q.links && q.folded, "--folded has no links: leave out --links"},
	    {q.folded && q.top != 0 && q.top != ~std::size_t(0),
	     "--folded prints all, as the widths of a flame graph are sums: leave out --top"},
	    {has_cpus && of_path, "--cpu: a path leads over all CPUs, so the report critical-path can only be limited "
				  "to times and threads"},
	    {q.idle && !is("samples"), "--idle needs the report samples"},
	    {q.lines && !of_stacks, "--lines needs the report stacks"},
	    {!q.debug_directories.empty() && !of_stacks, "--debug-dir needs the report stacks"},
	    {!q.output.empty() && !of_stacks, "-o writes a flame graph: it needs the report stacks"},
	    {!q.output.empty() && traces > 2, "-o: a flame graph shows one trace, or compares two"},
	    {!q.every.empty() && !is("ratios"), "--every needs the report ratios"},
	    {!q.plot.file.empty() && q.folded, "--folded is not drawn: leave out --svg"},
	    {is_virtual && !is("cpu"), "--virtual needs the report cpu: times of other reports are not compensated"},
	    {is_virtual && q.by == "cpu",
	     "--virtual is about threads, whose CPUs have no time in common without the probes: leave out --by cpu"},
	    {is_virtual && (has_times || has_cpus),
	     "--virtual is about the whole recording: leave out --from, --to and --cpu"},
	    {is_virtual && is_drawn, "--virtual is not drawn: leave out --plot and --svg"},
	    {has_cpus && is("offcpu"), "--cpu: a thread that is blocked is on no CPU, so the report offcpu can "
				       "only be limited to times and threads"},
	    {has_threads && q.idle, "--idle is about CPUs, so it can only be limited to times and CPUs"},
	    {has_threads && q.by == "cpu" && !of_stacks,
	     "--by cpu shows all that ran on a CPU, so it can only be limited to times and CPUs, not to threads"},
	    {!q.key.empty() && !of_requests, "--key needs the report requests"},
	    {q.selection.filter && !of_requests, "--filter needs the report requests: the states of threads need all "
						 "events; monitor list, stat and query filter them"},
	    {of_requests && q.key.empty(), "the report requests needs --key, the parameter that the events of a "
					   "request have in common, such as --key request"},
	    {of_requests && is_drawn, "the report requests is not drawn: leave out --plot and --svg"},
	};
	for (const auto &[is_unfit, sentence] : unfit)
		if (is_unfit)
			return sentence;
	question.by_is_chosen = !q.by.empty();
	if (question.by_is_chosen)
		return why_not_by(question, all);
	question.by = q.report->by.empty() ? "process" : q.report->by.front();
	return "";
}

} // namespace monitor::reports
