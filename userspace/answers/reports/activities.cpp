// SPDX-License-Identifier: MIT
// The reports on durations: system calls, blocked times, and activities that programs mark.
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "answers/report/activities_table.h"
#include "base/error.h"
#include "fold_report.h"
#include "reading/activities/patched_functions.h"
#include "reading/activities/table.h"
#include "reading/activities/totals.h"
#include "reading/analyze/fold_input.h"

namespace monitor::reports {
namespace {

using activities::Label;

const std::map<std::string, Label> labels = {{"process", Label::process}, {"thread", Label::thread},
					     {"command", Label::command}, {"waker", Label::waker},
					     {"caller", Label::caller},   {"argument", Label::argument}};

// These reports group by the tables of their names in share/tables/.
activities::Grouping grouping_of(const Question &question)
{
	if (question.report->of_programs)
		return {activities::ActivitySource::program, {Label::activity, labels.at(question.by)}};
	activities::Grouping grouping =
	    activities::grouping_of(activities::load_shipped_table(question.report->name).activities.front());
	grouping.by.front() = labels.at(question.by);
	if (grouping.by.front() == Label::waker)
		grouping.by = {Label::waker};
	return grouping;
}

class ActivitiesReport : public FoldReport {
public:
	explicit ActivitiesReport(Folded &folded)
	    : FoldReport(folded, folded.question.report->of_programs ? Counters::recorded : Counters::none),
	      tracker_(analyze::input_of(folded.trace, folded.info), folded.fold,
		       {folded.question.by == "argument", counters_.get(), folded.question.report == &offcpu_report}),
	      totals_(grouping_of(folded.question), folded.fold, tracker_, counters_.get()),
	      is_of_programs_(folded.question.report->of_programs)
	{
		const std::string &by = folded.question.by;
		if (folded.info.statistics && is_of_programs_ && (by == "thread" || by == "argument"))
			throw Error("this recording has statistics instead of events (--statistics), which have the "
				    "activities of each process: use --by process or --by caller, not {}",
				    by);
		if (is_of_programs_ && tracker_.names().empty())
			throw Error(
			    folded.info.has_partial()
				? "the recording's --filter left out events of its activities (`monitor info` shows "
				  "it), so they are not known; `monitor list` and `monitor stat` show those that it "
				  "kept"
				: "this trace has no activities: declare them with EDC_ACTIVITY of monitor/edc.h");
		tracker_.add(totals_);
		folded.fold.add(tracker_);
		if (!is_of_programs_)
			if (const std::string why = report::why_no_states(folded.info, folded.fold.kinds(),
									  is_of(ActivitySource::system_call));
			    !why.empty())
				throw Error(why);
		const bool is_all =
		    folded.fold.is_whole() && folded.fold.scope().cpus.empty() && !folded.fold.scope().threads;
		if (is_of_programs_ && is_all &&
		    std::ranges::any_of(folded.info.functions.chosen, &analyze::RecordedFunction::is_patched))
			folded.fold.add(patched_functions_.emplace(folded.trace.description()));
	}

	void finish() override
	{
		tracker_.finish();
		FoldReport::finish();
		if (!is_of_programs_ && !is_of(ActivitySource::system_call))
			print_unknown_wakers(folded_.info, folded_.fold.kinds());
	}
	report::Table table() override
	{
		report::Table table =
		    report::activities_table(totals_, rows(), folded_.clock, report::known_shares(folded_.info),
					     counters_ ? &counters_->info() : nullptr);
		measure(&table);
		if (counters_ && folded_.question.is_text())
			how_ += report::how_counted_text(counters_->info(), table);
		return shown(std::move(table));
	}
	std::optional<report::ShownRows> shown_rows() const override
	{
		return is_of_programs_ ? std::nullopt : std::optional(shown_);
	}
	std::string below() const override
	{
		return is_of_programs_
			   ? report::unpaired_text(totals_) + report::call_cost_text(folded_.info) +
				 report::left_out_text(folded_.info, folded_.clock) +
				 (patched_functions_ ? report::patched_functions_text(*patched_functions_, folded_.info)
						     : "") +
				 how_
			   : "";
	}
	std::string members() const override
	{
		std::string text;
		if (is_of_programs_)
			text += fmt::format("\"unpaired\": {},\n\"overlap\": {},\n", report::unpaired_json(totals_),
					    totals_.uncertain());
		if (is_of_programs_ && folded_.info.functions.budget.percent)
			text += fmt::format("\"left_out_by_budget\": {},\n",
					    report::left_out_json(folded_.info, folded_.clock));
		if (patched_functions_)
			text += fmt::format("\"patches\": {},\n",
					    report::patched_functions_json(*patched_functions_, folded_.info));
		return text + FoldReport::members();
	}

private:
	using ActivitySource = activities::ActivitySource;

	bool is_of(ActivitySource source) const { return totals_.grouping().source == source; }
	std::vector<activities::TotalsRow> rows()
	{
		using Of = report::ShownRows::Of;
		if (is_of_programs_)
			return totals_.rows();
		shown_.of = shown_of(folded_.question, folded_.info);
		if (shown_.of != Of::command) {
			std::vector<activities::TotalsRow> rows = totals_.rows();
			if (shown_.of == Of::all && folded_.info.command_pid == 0 && folded_.question.is_text())
				std::stable_partition(rows.begin(), rows.end(), [&](const activities::TotalsRow &row) {
					return !says_little(row);
				});
			return rows;
		}
		for (const activities::TotalsRow &row : totals_.rows(activities::Whose::others))
			shown_.amount += folded_.clock.to_ns(row.total.ticks);
		std::vector<activities::TotalsRow> rows = totals_.rows(activities::Whose::command);
		shown_.others = totals_.rows().size() - rows.size(); // one may be of both
		return rows;
	}
	// Whether the row says little: the recorder's, or a thread's single sleep of nearly all the time.
	bool says_little(const activities::TotalsRow &row) const
	{
		const auto recorder = static_cast<std::int32_t>(folded_.info.recorder.pid);
		const bool is_recorder = row.of && recorder && (row.of->tgid == recorder || row.of->parent == recorder);
		const std::uint64_t window = folded_.fold.window_end() - folded_.fold.window_begin();
		return is_recorder || (totals_.grouping().source == activities::ActivitySource::blocked && row.of &&
				       row.max >= window - window / 10);
	}

	activities::Tracker tracker_;
	activities::Totals totals_;
	const bool is_of_programs_;
	report::ShownRows shown_;
	std::optional<activities::PatchedFunctions> patched_functions_; // if functions were patched
};

} // namespace

const Report syscalls_report{
    "syscalls", "system calls by process and call", {"process", "command"}, true, answer_with<ActivitiesReport>};
const Report offcpu_report{"offcpu",
			   "time blocked, by thread, system call and waker",
			   {"thread", "process", "command", "waker"},
			   true,
			   answer_with<ActivitiesReport>};
const Report activities_report{
    "activities", "activities of instrumented programs", {"process", "thread", "caller", "argument"},
    true,         answer_with<ActivitiesReport>,         true};

} // namespace monitor::reports
