// SPDX-License-Identifier: MIT
// Reports made from the fold of a trace: a table, notes on what it cannot show, and the line on the recording's quality
// below.
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

// A trace and its fold. The last members are set after the fold.
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

// One report of one trace. Its constructor registers what it needs with the fold.
class FoldReport {
public:
	enum class Counters { none, recorded, needed }; // of record -m: left out; if recorded; required

	explicit FoldReport(Folded &folded, Counters counters = Counters::none);
	virtual ~FoldReport() = default;
	FoldReport(const FoldReport &) = delete;

	virtual void event(const trace::Event &) {} // of CPUs, after the fold, if `gets_events_`
	virtual void finish();                      // after the last event
	virtual std::string folded() { return ""; } // folded stacks, instead of all that follows
	virtual report::Table table() = 0;
	// After table().
	virtual std::string above() const { return ""; }   // in text
	virtual std::string below() const { return how_; } // in text
	virtual std::string members() const;               // of the JSON object, each followed by a comma
	virtual bool shows_cpus() const { return false; }
	bool gets_events() const { return gets_events_; }
	// After table() or folded(), for a report that may show only the command.
	virtual std::optional<report::ShownRows> shown_rows() const { return std::nullopt; }

protected:
	// Sets `measured_`, a row per usual group, and `how_`: how its figures, or those of `table`, were counted.
	void measure(const report::Table *table = nullptr);
	// In text, removes counting columns that are 100 everywhere.
	report::Table shown(report::Table table) const;

	Folded &folded_;
	std::unique_ptr<analyze::CounterFold> counters_; // null: none
	report::Table measured_;
	std::string how_; // text, or JSON
	bool gets_events_ = false;
};

// For reports that show only the recorded command by default: whose rows to show.
report::ShownRows::Of shown_of(const Question &question, const analyze::RecordingInfo &info);
// Throws Error with the reason if the recording has nothing to fold.
void expect_fold(const Question &question, const analyze::RecordingInfo &info);
// Prints to standard error which calls and wakers are unknown, because they were not recorded. After the last event.
void print_unknown_wakers(const analyze::RecordingInfo &info, const analyze::EventKinds &kinds);
report::UsageOptions usage_options(const Question &question, const trace::Trace &trace,
				   const analyze::RecordingInfo &info, const analyze::ThreadFold &fold);
// "command: make -j8 (its processes are marked *), 2.3 s recorded on HOST"
std::string head_text(const analyze::RecordingInfo &info, double wall_ns);

using MakeReport = std::unique_ptr<FoldReport> (*)(Folded &folded);
Answer answer_by_fold(const Question &question, trace::Trace &trace, MakeReport make);
template <class Made> Answer answer_with(const Question &question, trace::Trace &trace)
{
	return answer_by_fold(question, trace, [](Folded &folded) -> std::unique_ptr<FoldReport> {
		return std::make_unique<Made>(folded);
	});
}

} // namespace monitor::reports
