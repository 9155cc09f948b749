// SPDX-License-Identifier: MIT
// Reports that are made of the fold of a trace: a table, what no row of it can show, and the line of the recording's
// quality below.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "answers/report/summary.h"
#include "answers/report/usage_report.h"
#include "reading/analyze/counter_fold.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/thread_fold.h"
#include "report.h"

namespace monitor::reports {

// A trace, and the fold of it. The last ones are set after the fold.
struct Folded {
	const Question &question;
	trace::Trace &trace;
	const analyze::RecordingInfo &info;
	const trace::Clock &clock;
	const std::uint64_t every_ticks;
	analyze::ThreadFold fold;
	report::UsageOptions options{};
	report::Table cpus{};

	bool is_by_cpu() const { return options.grouping.by == report::GroupBy::cpu; }
};

// One report of one trace. A constructor adds what it needs to the fold.
class FoldReport {
public:
	enum class Counters { none, recorded, needed }; // what record -m counted: left out; if it did; always

	explicit FoldReport(Folded &of, Counters counters = Counters::none);
	virtual ~FoldReport() = default;
	FoldReport(const FoldReport &) = delete;

	virtual void event(const trace::Event &) {} // of CPUs, if `gets_events_`, once the fold has it
	virtual void finish();                      // after the last event
	virtual std::string folded() { return ""; } // stacks, instead of all that follows
	virtual report::Table table() = 0;
	// After table().
	virtual std::string above() const { return ""; }   // of the text
	virtual std::string below() const { return how_; } // of the text
	virtual std::string members() const;               // of the JSON object, each with its comma
	virtual bool shows_cpus() const { return false; }
	bool gets_events() const { return gets_events_; }
	// After table() or folded(): of a report that may show the command alone.
	virtual std::optional<report::ShownRows> shown_rows() const { return std::nullopt; }

protected:
	// Sets `measured_`, a row for each of the usual groups, and `how_` each of its figures was counted, or those of
	// `table`.
	void measure(const report::Table *table = nullptr);
	// In text, what was counted all the time does not say so.
	report::Table shown(report::Table table) const;

	Folded &of_;
	std::unique_ptr<analyze::CounterFold> counters_; // null: none
	report::Table measured_;
	std::string how_; // text, or JSON
	bool gets_events_ = false;
};

// Of the reports that show the recorded command alone unless something else is asked: whose rows they have.
report::ShownRows::Of shown_of(const Question &question, const analyze::RecordingInfo &info);
// Why a recording has nothing that the fold could be of. Throws Error.
void expect_fold(const Question &question, const analyze::RecordingInfo &info);
// On standard error: which calls and ends of sleeps are not known, because they were not recorded.
void tell_unknown_wakers(const analyze::RecordingInfo &info, const analyze::EventKinds &kinds);
report::UsageOptions usage_options(const Question &question, const trace::Trace &trace,
				   const analyze::RecordingInfo &info, const analyze::ThreadFold &fold);
// "command: make -j8 (its processes are marked *), 2.3 s recorded on HOST"
std::string head_text(const analyze::RecordingInfo &info, double wall_ns);

using MakeReport = std::unique_ptr<FoldReport> (*)(Folded &of);
Answer answer_by_fold(const Question &question, trace::Trace &trace, MakeReport make);
template <class Made> Answer answer_with(const Question &question, trace::Trace &trace)
{
	return answer_by_fold(question, trace,
			      [](Folded &of) -> std::unique_ptr<FoldReport> { return std::make_unique<Made>(of); });
}

} // namespace monitor::reports
