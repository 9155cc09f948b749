// SPDX-License-Identifier: MIT
// The report on segments: what was counted from one reset to the next.
#include "reading/analyze/segments.h"
#include "answers/report/segments_table.h"
#include "fold_report.h"

namespace monitor::reports {
namespace {

class SegmentsReport : public FoldReport {
public:
	explicit SegmentsReport(Folded &of)
	    : FoldReport(of, Counters::needed),
	      fold_(of.question.place<analyze::SegmentBy>(), of.trace.description(), of.fold, *counters_)
	{
		of.fold.add(fold_);
	}

	report::Table table() override
	{
		report::Table table = report::segments_table(fold_, counters_->info(), of_.clock);
		measure(&table);
		return shown(std::move(table));
	}
	std::string below() const override { return report::segments_text(fold_, of_.info) + how_; }

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
