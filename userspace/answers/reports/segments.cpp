// SPDX-License-Identifier: MIT
// The report on segments: what was counted from one reset to the next.
#include "reading/analyze/segments.h"
#include "answers/report/segments_table.h"
#include "fold_report.h"

namespace monitor::reports {
namespace {

class SegmentsReport : public FoldReport {
public:
	explicit SegmentsReport(Folded &folded)
	    : FoldReport(folded, Counters::needed), fold_(folded.question.grouping_index<analyze::SegmentBy>(),
							  folded.trace.description(), folded.fold, *counters_)
	{
		folded.fold.add(fold_);
	}

	report::Table table() override
	{
		report::Table table = report::segments_table(fold_, counters_->info(), folded_.clock);
		measure(&table);
		return shown(std::move(table));
	}
	std::string below() const override { return report::segments_text(fold_, folded_.info) + how_; }

private:
	analyze::SegmentFold fold_;
};

} // namespace

const Report segments_report{"segments",
			     "what was counted between the events of `record --reset-on`",
			     {"process", "thread", "cpu"},
			     false,
			     answer_with<SegmentsReport>};

} // namespace monitor::reports
