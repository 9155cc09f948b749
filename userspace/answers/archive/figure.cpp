// SPDX-License-Identifier: MIT
#include "figure.h"

#include <algorithm>

#include <fmt/format.h>

#include "answers/report/summary.h"
#include "answers/report/usage_report.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/scanner.h"
#include "base/text.h"
#include "reading/activities/distribution.h"
#include "reading/activities/tracker.h"
#include "reading/analyze/clock_bound.h"
#include "reading/analyze/recorded.h"
#include "reading/analyze/thread_fold.h"
#include "reading/events/trace.h"

namespace monitor::archive {
namespace {

using activities::Distribution;

constexpr std::string_view statistics_of_calls[] = {"p50", "p90", "p99", "min", "mean", "max", "total", "count"};
constexpr std::string_view call_event = "sys_enter_"; // what may precede the name of a call
constexpr std::size_t max_figure_bytes = 200;

struct CallDurations {
	std::uint64_t count = 0;
	Distribution durations; // without refused calls
};

// Durations by analyze::call_of().
class Durations : public activities::Observer {
public:
	void finished(const activities::Finished &activity) override
	{
		if (activity.source != activities::ActivitySource::system_call)
			return;
		CallDurations &of = by_call_[activity.number];
		++of.count;
		if (!activity.was_refused)
			of.durations.add(static_cast<std::int64_t>(activity.end - activity.begin));
	}

	CallDurations of_call(const std::string &call, const analyze::EventKinds &kinds) const
	{
		CallDurations all;
		for (const auto &[number, of] : by_call_) {
			if (kinds.syscall_label(number) != call)
				continue;
			all.count += of.count;
			all.durations.merge(of.durations);
		}
		return all;
	}

private:
	std::map<std::uint32_t, CallDurations> by_call_;
};

std::optional<double> statistic_of(const CallDurations &call, const std::string &statistic, const trace::Clock &clock)
{
	const Distribution &durations = call.durations;
	const auto ns = [&](double ticks) { return ticks * 1e9 / static_cast<double>(clock.frequency_hz); };
	if (statistic == "count")
		return static_cast<double>(call.count);
	if (durations.count() == 0 && (statistic != "total" || call.count != 0))
		return {};
	if (statistic == "total")
		return ns(durations.total());
	if (statistic == "mean")
		return ns(durations.mean());
	if (statistic == "min")
		return ns(static_cast<double>(durations.min()));
	if (statistic == "max")
		return ns(static_cast<double>(durations.max()));
	const double percent = statistic == "p50" ? 0.5 : statistic == "p90" ? 0.9 : 0.99;
	return ns(static_cast<double>(durations.percentile(percent)));
}

// As in the report's row; empty if there is none.
std::optional<double> cpu_of(const std::string &command, const report::Table &by_command)
{
	const std::size_t name = by_command.column("command"), cpu = by_command.column("cpu_ns");
	for (const auto &row : by_command.rows)
		if (row[name] == report::Cell(command))
			return report::number_of(row[cpu]);
	return {};
}

bool has_kind(const std::vector<Figure> &figures, Figure::Kind kind)
{
	return std::ranges::any_of(figures, [kind](const Figure &figure) { return figure.kind == kind; });
}

} // namespace

std::string Figure::text() const
{
	return kind == Kind::elapsed ? "elapsed"
	       : kind == Kind::cpu   ? "cpu of " + subject
				     : statistic + " of " + subject;
}

report::Unit Figure::unit() const
{
	return statistic == "count" ? report::Unit::count : report::Unit::nanoseconds;
}

Figure parse_figure(const std::string &text)
{
	const std::string whole = trimmed(text);
	const std::size_t of = whole.find(" of ");
	const std::string first = trimmed(whole.substr(0, of)),
			  rest = of == std::string::npos ? "" : trimmed(whole.substr(of + 4));
	const bool is_sound = whole.size() <= max_figure_bytes && is_utf8(whole) && printable(whole) == whole;
	if (is_sound && whole == "elapsed")
		return {Figure::Kind::elapsed, "", ""};
	if (is_sound && first == "cpu" && !rest.empty())
		return {Figure::Kind::cpu, "", rest};
	if (is_sound && !rest.empty() &&
	    std::ranges::find(statistics_of_calls, first) != std::end(statistics_of_calls)) {
		const std::string call = rest.starts_with(call_event) ? rest.substr(call_event.size()) : rest;
		if (std::ranges::all_of(call, [](char c) { return is_letter(c) || is_digit(c); }) && !call.empty())
			return {Figure::Kind::calls, first, call};
	}
	throw Error("{} is not a figure; there are: elapsed, cpu of COMMAND, and p50, p90, p99, min, mean, max, total "
		    "or count of CALL, such as 'p99 of fsync'",
		    readable(text));
}

Measured measure(const std::string &directory, const std::vector<Figure> &figures)
{
	trace::Trace trace = trace::Trace::open(directory);
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	const analyze::FoldInput input = analyze::input_of(trace, info);
	analyze::ThreadFold fold(input, info);
	activities::Tracker tracker(input, fold, {});
	Durations durations;
	tracker.add(durations);
	fold.add(tracker);
	if (has_kind(figures, Figure::Kind::cpu) || has_kind(figures, Figure::Kind::calls))
		analyze::feed(trace, fold);
	const report::Summary summary =
	    report::summarize(trace, info, analyze::ClockBound(trace.description(), info), fold.tokens());
	const double wall_ns = summary.wall_ns;
	// Else calls may be missing, so a call without a row is unknown.
	const bool is_whole = summary.complete && summary.lost == 0u && summary.misses.value_or(0) == 0 &&
			      fold.gaps() == 0 && trace.problems().empty() && !info.has_partial();
	const trace::Clock &clock = trace.description().clock;
	const analyze::Recorded recorded = analyze::recorded(trace, info, fold.kinds());
	const bool has_switches = info.has_tokens && !info.has_counts_only() &&
				  fold.kinds().has(analyze::EventMeaning::sched_switch) &&
				  (!info.present || info.has_program("sched_switch"));
	report::Table by_command;
	if (has_switches && has_kind(figures, Figure::Kind::cpu)) {
		report::UsageOptions options;
		options.grouping = {report::GroupBy::command, info.filtering(), {}};
		options.recorded = recorded;
		by_command = report::usage_table(fold, clock, options);
	}
	// Statistics have sums of calls, not calls.
	const bool has_calls =
	    info.has_tokens && !info.statistics && recorded.calls && (!info.present || info.has_program("sys_exit"));
	Measured measured;
	measured.is_final = info.complete() || trace.is_generic_ctf();
	for (const Figure &figure : figures) {
		if (figure.kind == Figure::Kind::calls && has_calls && !fold.kinds().may_be_call(figure.subject) &&
		    durations.of_call(figure.subject, fold.kinds()).count == 0)
			continue;
		auto &value = measured.values[figure.text()];
		if (figure.kind == Figure::Kind::elapsed && wall_ns > 0)
			value = wall_ns;
		if (figure.kind == Figure::Kind::cpu && has_switches)
			value = cpu_of(figure.subject, by_command);
		if (figure.kind == Figure::Kind::calls && has_calls) {
			const CallDurations of_call = durations.of_call(figure.subject, fold.kinds());
			if (of_call.count > 0 || is_whole)
				value = statistic_of(of_call, figure.statistic, clock);
		}
	}
	if (!trace.problems().empty())
		measured.problems.push_back(
		    fmt::format("{}: {} parts of the trace are damaged: its figures are of the rest",
				printable(directory), trace.problems().total()));
	return measured;
}

} // namespace monitor::archive
