// SPDX-License-Identifier: MIT
// The report on samples: what the CPUs were doing when all were sampled.
#include <fmt/format.h>

#include "answers/report/idle_table.h"
#include "answers/report/samples_table.h"
#include "base/error.h"
#include "fold_report.h"
#include "reading/analyze/samples.h"

namespace monitor::reports {
namespace {

class SamplesReport : public FoldReport {
public:
	explicit SamplesReport(Folded &folded) : FoldReport(folded), fold_(folded.fold) { folded.fold.add(fold_); }

	void finish() override
	{
		fold_.finish();
		if (fold_.rounds() == 0 && folded_.question.selection.is_all())
			throw Error(
			    "this recording has no samples of what the CPUs were doing: record with --sample-every");
	}
	report::Table table() override
	{
		return folded_.question.idle ? report::idle_table(fold_, folded_.fold) : report::samples_table(fold_);
	}
	std::string below() const override
	{
		return report::samples_text(fold_, folded_.clock) + (folded_.question.idle ? report::idle_text() : "");
	}
	std::string members() const override
	{
		return fmt::format("\"samples\": {},\n", report::samples_json(fold_, folded_.clock));
	}

private:
	analyze::SampleFold fold_;
};

} // namespace

const Report samples_report{"samples",
			    "what the CPUs were doing when `record --sample-every` sampled them, by process",
			    {},
			    false,
			    answer_with<SamplesReport>};

} // namespace monitor::reports
