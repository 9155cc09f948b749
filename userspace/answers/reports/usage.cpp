// SPDX-License-Identifier: MIT
// The reports on CPU usage: by whom, in which mode, what threads waited for, and counters.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/report/summary.h"
#include "answers/report/virtual_table.h"
#include "base/error.h"
#include "base/json.h"
#include "fold_report.h"
#include "reading/analyze/clock_bound.h"
#include "reading/analyze/feed.h"
#include "reading/cost/virtual_times.h"

namespace monitor::reports {
namespace {

class CpuReport : public FoldReport {
public:
	explicit CpuReport(Folded &folded) : FoldReport(folded, Counters::recorded) {}

	report::Table table() override
	{
		measure();
		return shown(folded_.is_by_cpu() ? folded_.cpus
						 : report::usage_table(folded_.fold, folded_.clock, folded_.options));
	}
	std::string below() const override
	{
		report::Table ratios = shown(measured_);
		const std::size_t hidden = folded_.question.keep_rows(ratios);
		return (counters_ ? folded_.question.text_of(ratios) : "") +
		       (hidden ? fmt::format("... and {} more; the report ratios with --top 0 shows all\n", hidden)
			       : "") +
		       how_;
	}
	bool shows_cpus() const override { return !folded_.is_by_cpu() && !folded_.fold.scope().threads; }
};

class RatiosReport : public FoldReport {
public:
	explicit RatiosReport(Folded &folded) : FoldReport(folded, Counters::needed) {}

	report::Table table() override
	{
		measure();
		return shown(measured_);
	}
};

// With times as if nothing had been measured.
Answer answer_without_probes(const Question &question, trace::Trace &trace)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	expect_fold(question, info);
	const trace::Clock &clock = trace.description().clock;
	const cost::VirtualCost cost = cost::virtual_cost(info, clock);
	if (!cost.why_not.empty())
		throw Error("--virtual: " + cost.why_not);
	analyze::ThreadFold fold(trace, info, question.selection.scope(trace, info));
	cost::VirtualTimes times(fold, info, cost);
	fold.add(times);
	analyze::ClockBound bound(trace.description(), info);
	const trace::Losses losses = analyze::feed(trace, fold, [&](const trace::Event &event) {
		times.event(event);
		if (event.stream->is_recorder())
			bound.event(event);
	});
	const report::Summary summary = report::summarize(trace, info, bound, fold, losses);
	const bool only_phases = losses.all_counted && losses.lost == info.phase_marks();
	if (summary.missing || !trace.problems().empty() || !only_phases)
		throw Error("--virtual: parts of this trace are missing or damaged, and what their events cost with "
			    "them; `monitor check` says which");
	report::UsageOptions options = usage_options(question, trace, info, fold);
	options.with_sleepers = !question.is_text() || !question.sort.empty() || question.top != 0;
	const report::VirtualReport report(fold, times, cost, clock, options);
	report::Table table = report.table();
	question.sort_rows(table);
	const std::size_t hidden = question.keep_rows(table);
	Answer answer;
	if (question.json)
		answer.text =
		    fmt::format("{{\"rows\": {},\n\"virtual\": {},\n\"summary\": {}}}\n", report::to_json(table),
				json_dump(report::virtual_json(report, cost)), report::summary_json(summary));
	else if (question.csv)
		answer.text = report::to_csv(table);
	else
		answer.text = fmt::format("{}{}\n{}\n{}{}\n", head_text(info, summary.wall_ns),
					  report::virtual_command_text(report),
					  question.text_of(report::with_ranges(table), report::more_rows_text(hidden)),
					  report::virtual_notes(report, cost, info), report::summary_text(summary));
	return answer;
}

} // namespace

const Report cpu_report{"cpu", "who used the CPUs, in which mode, and what they waited for (default)", usual_groupings,
			true, [](const Question &question, trace::Trace &trace) {
				return question.is_virtual ? answer_without_probes(question, trace)
							   : answer_with<CpuReport>(question, trace);
			}};
const Report ratios_report{"ratios", "what `record -m` counted", usual_groupings, false, answer_with<RatiosReport>};

} // namespace monitor::reports
