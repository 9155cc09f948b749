// SPDX-License-Identifier: MIT
// The reports on stacks: tables and flame graphs.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "answers/report/flame_graph.h"
#include "answers/report/profile.h"
#include "answers/report/stacks_table.h"
#include "base/error.h"
#include "fold_report.h"
#include "folded_stacks.h"

namespace monitor::reports {
namespace {

constexpr double min_share = 0.01; // of the total, to be printed

symbols::SymbolOptions symbol_options(const Question &question)
{
	symbols::SymbolOptions options;
	options.debug_directories = question.debug_directories;
	options.lines = question.lines;
	return options;
}

class StacksReport : public FoldReport {
public:
	explicit StacksReport(Folded &folded) : FoldReport(folded) { folded.fold.add(fold_); }

	void finish() override
	{
		const analyze::RecordingInfo &info = folded_.info;
		if (!fold_.any())
			throw Error(
			    info.filter.expression.empty() || !info.attached("stack_sample")
				? "this recording has no stacks: record with --stacks"
				: "this recording has no stacks: its --filter kept no event that one is taken at");
		by_ = stacks_by(folded_.question.by_is_chosen ? folded_.question.by : "", info);
		stacks_.emplace(folded_.trace.directory(), folded_.clock, info, folded_.fold, fold_,
				symbol_options(folded_.question));
		shown_.of = shown_of(folded_.question, info);
		if (shown_.of == report::ShownRows::Of::command)
			stacks_->show_command();
		tree_ = &stacks_->tree(by_);
		shown_.is_time = report::is_time(by_);
		shown_.amount = shown_.is_time ? folded_.clock.to_ns(stacks_->others(by_)) : stacks_->others(by_);
		print_missing(stacks_->symbolizer());
	}
	std::string folded() override
	{
		return report::folded_text(report::profile_of(*tree_, folded_.clock, by_, ""));
	}
	report::Table table() override { return report::stacks_table(*tree_, folded_.clock, by_); }
	std::string below() const override
	{
		return report::calls_text(*tree_, folded_.clock, by_, min_share, folded_.question.width) +
		       report::stacks_text(*tree_, folded_.info, by_);
	}
	std::optional<report::ShownRows> shown_rows() const override { return shown_; }
	std::string members() const override
	{
		return fmt::format("\"stacks\": {},\n", report::stacks_json(*tree_, folded_.clock, folded_.info, by_));
	}

private:
	analyze::StackFold fold_;
	std::optional<report::NamedStacks> stacks_;
	report::StackBy by_{};
	const report::CallTree *tree_ = nullptr;
	report::ShownRows shown_;
};

std::string title_of(const FoldedStacks &folded)
{
	const trace::TimeRange window = analyze::window_of(folded.trace, folded.info);
	const auto ns = static_cast<double>(folded.clock().to_ns(window.to - window.from));
	return fmt::format("{}, {} recorded on {}",
			   folded.info.command.empty() ? "the machine" : folded.info.short_command(),
			   report::duration_text(ns), folded.info.host.empty() ? "?" : folded.info.host);
}

void add_notes(const FoldedStacks &folded, std::vector<std::string> &notes)
{
	if (!folded.trace.problems().empty())
		notes.push_back(fmt::format("{} packets of {} are damaged and were left out",
					    folded.trace.problems().total(), folded.trace.directory()));
	if (const auto lost = folded.losses.total_lost(); lost && *lost)
		notes.push_back(fmt::format("{} events of {} were lost", *lost, folded.trace.directory()));
}

// Without stacks of wakers, waits are shown only on request, as they add little to offcpu.
bool is_worth_showing(report::StackBy by, const FoldedStacks &folded, bool is_chosen)
{
	return folded.stacks->tree(by).total() > 0 &&
	       (by != report::StackBy::wait || is_chosen || folded.fold.has_wakers());
}

} // namespace

const Report stacks_report{"stacks",
			   "where in programs and the kernel: functions and calls (`record --stacks`)",
			   {"cpu", "offcpu", "wait", "fault", "other"},
			   false,
			   answer_with<StacksReport>};

Answer flame_graphs(const Question &question, std::vector<trace::Trace> &traces)
{
	std::vector<std::unique_ptr<FoldedStacks>> folded;
	for (trace::Trace &trace : traces)
		folded.push_back(std::make_unique<FoldedStacks>(trace, question.selection, symbol_options(question)));
	for (const std::unique_ptr<FoldedStacks> &each : folded)
		if (shown_of(question, each->info) == report::ShownRows::Of::command)
			each->stacks->show_command();
	FoldedStacks &shown = *folded.back(), *before = folded.size() > 1 ? folded.front().get() : nullptr;
	report::FlamePage page;
	page.title = title_of(shown);
	if (before)
		page.before = title_of(*before);
	for (const auto &[name, by] : report::stack_groupings) {
		if (question.by_is_chosen && name != question.by)
			continue;
		if (!is_worth_showing(by, shown, question.by_is_chosen) &&
		    !(before && is_worth_showing(by, *before, question.by_is_chosen)))
			continue;
		page.graphs.push_back({name, report::is_time(by), &shown.stacks->tree(by),
				       before ? &before->stacks->tree(by) : nullptr, &shown.clock(),
				       before ? &before->clock() : nullptr});
	}
	if (shown_of(question, shown.info) == report::ShownRows::Of::command)
		page.notes.emplace_back(
		    "only the recorded command's stacks; monitor report --all shows those of others");
	for (const std::unique_ptr<FoldedStacks> &each : folded) {
		add_notes(*each, page.notes);
		print_missing(each->stacks->symbolizer());
	}
	Answer made;
	if (!page.graphs.empty())
		made.text = report::flame_page(page);
	made.notes = page.graphs.size() > 1 ? "flame graphs" : "a flame graph";
	if (page.graphs.empty())
		made.notes = question.by_is_chosen
				 ? fmt::format("nothing to draw: no stacks of this kind, --by {}, within the options",
					       question.by)
				 : "nothing to draw: no stacks within the options";
	return made;
}

} // namespace monitor::reports
