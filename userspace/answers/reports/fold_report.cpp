// SPDX-License-Identifier: MIT
#include "fold_report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "answers/report/measurements_table.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/note.h"
#include "base/text.h"
#include "reading/analyze/clock_bound.h"
#include "reading/analyze/feed.h"

namespace monitor::reports {
namespace {

// A loss that makes the figures useless is reported before them.
std::string loss_warning(const report::Summary &summary)
{
	const auto lost = static_cast<double>(summary.lost.value_or(0));
	const double share = lost > 0 ? lost / (lost + static_cast<double>(summary.tokens)) : 0;
	return share < 0.01 ? ""
			    : fmt::format("{:.0f} % of the events were lost: times and counts below are too small "
					  "(\"at most\": the kernel's own count of the CPU time); record with a larger "
					  "--buffer or fewer events (-e, -p)\n\n",
					  share * 100);
}

// Reports which events --filter left out of the tables' data.
void print_filter_notes(const trace::Trace &trace, const analyze::RecordingInfo &info, bool of_programs)
{
	if (info.filter.expression.empty())
		return;
	std::set<std::string> missing;
	for (const auto &cls : trace.description().classes()) {
		const bool is_user = cls->domain == trace::Domain::user;
		const bool is_pair =
		    cls->name.ends_with("_begin") || cls->name.ends_with("_end") || cls->name.starts_with("function_");
		if (info.partial.contains(cls->name) && is_user == of_programs && (!of_programs || is_pair) &&
		    (is_user || info.attached(cls->name)))
			missing.insert(cls->name);
	}
	const auto max_names = std::min<std::size_t>(missing.size(), 5);
	std::string names = fmt::format("{}", fmt::join(missing.begin(), std::next(missing.begin(), max_names), ", "));
	if (missing.size() > max_names)
		names += fmt::format(" and {} more classes", missing.size() - max_names);
	if (!missing.empty())
		print_note("monitor: --filter left out events of {}: what is derived from them is unknown\n",
			   printable(names));
}

// Series need all rows, as each is a moment.
std::vector<plot::Chart> charts_of(const Question &question, const report::Table &table)
{
	if (!question.plot.is_asked())
		return {};
	const std::size_t usual = question.is_text() ? report::rows_in_text : table.rows.size();
	plot::Choice choice{fmt::format("report {}", question.report->name), question.sort,
			    question.top ? question.top : usual};
	if (question.top)
		choice.max_series = question.top;
	return {plot::chart_of(table, choice)};
}

std::string text_of(const Folded &folded, const FoldReport &report, const report::Table &table, std::size_t hidden,
		    const report::Summary &summary, const std::vector<plot::Chart> &charts)
{
	const Question &question = folded.question;
	const std::string below = report.below();
	const std::string rest =
	    report::more_rows_text(hidden) + (summary.shown_rows ? report::others_text(*summary.shown_rows) : "");
	return head_text(folded.info, summary.wall_ns) + "\n" + loss_warning(summary) + report.above() +
	       (question.plot.in_text ? plot::to_text(charts, question.look) + rest : question.text_of(table, rest)) +
	       (below.empty() ? "" : "\n") + below + (report.shows_cpus() ? "\n" + question.text_of(folded.cpus) : "") +
	       "\n" + report::damage_text(folded.trace.problems().total()) + report::summary_text(summary) + "\n";
}

std::string json_of(const Folded &folded, const FoldReport &report, const report::Table &table,
		    const report::Summary &summary)
{
	const std::string &name = folded.question.trace;
	const std::string trace = name.empty() ? "" : fmt::format("\"trace\": {},\n", json_text(name));
	return fmt::format("{{{}\"rows\": {},\n{}\"cpus\": {},\n\"summary\": {}}}\n", trace, report::to_json(table),
			   report.members(), report::to_json(folded.cpus), report::summary_json(summary));
}

void set_csv(Answer &answer, const Question &question, report::Table table)
{
	if (!question.trace.empty()) {
		table.columns.insert(table.columns.begin(), {"trace", "trace", report::Unit::text});
		for (auto &row : table.rows)
			row.insert(row.begin(), question.trace);
	}
	const std::string text = report::to_csv(table);
	const std::size_t head = text.find('\n') + 1;
	answer.head = text.substr(0, head);
	answer.text = text.substr(head);
}

} // namespace

FoldReport::FoldReport(Folded &folded, Counters counters) : folded_(folded)
{
	if (counters == Counters::needed && !folded.info.counters)
		throw Error("this recording has no counters: record with -m, for example -m cpu,cache");
	if (counters == Counters::none || !folded.info.counters)
		return;
	counters_ =
	    std::make_unique<analyze::CounterFold>(folded.trace.description(), *folded.info.counters,
						   folded.trace.begin_time(), folded.every_ticks, folded.fold.scope());
	folded.fold.add(*counters_);
}

void FoldReport::finish()
{
	if (counters_)
		counters_->finish(folded_.fold);
}

void FoldReport::measure(const report::Table *table)
{
	if (!counters_)
		return;
	constexpr std::uint64_t max_parts = 100'000;
	if (folded_.every_ticks && counters_->parts().size() > max_parts)
		throw Error("--every would make too many rows: use a longer time");
	measured_ = report::measurements_table(*counters_, folded_.fold, folded_.clock,
					       {folded_.options.grouping, folded_.every_ticks});
	const report::Table &counted = table ? *table : measured_;
	how_ = folded_.question.is_text() ? report::provenance_text(counters_->info(), counted)
					  : report::provenance_json(counters_->info(), counted);
	if (folded_.question.is_text() && folded_.every_ticks && counters_->reaching_back())
		how_ += fmt::format("{} readings cover a longer time than --every and are shown where they were made; "
				    "record with --every\n",
				    counters_->reaching_back());
	if (folded_.question.is_text())
		how_ += report::uncounted_text(*counters_);
}

report::Table FoldReport::shown(report::Table table) const
{
	if (!counters_ || !folded_.question.is_text())
		return table;
	table = report::without_exact(table);
	if (folded_.every_ticks)
		show_times(table, folded_.question, folded_.trace);
	return table;
}

std::string FoldReport::members() const
{
	if (!counters_)
		return "";
	std::string text = fmt::format("\"ratios\": {},\n\"measurements\": {},\n", report::to_json(measured_), how_);
	if (!counters_->uncounted().empty())
		text += fmt::format("\"uncounted_cpus\": [{}],\n", fmt::join(counters_->uncounted(), ", "));
	return text;
}

report::ShownRows::Of shown_of(const Question &question, const analyze::RecordingInfo &info)
{
	using Of = report::ShownRows::Of;
	if (!question.selection.threads.is_all() || !question.selection.cpus.empty())
		return Of::options;
	// With -p PID the command was not what should be recorded.
	return question.all || info.command_pid == 0 || !info.filter.pids.empty() ? Of::all : Of::command;
}

void expect_fold(const Question &question, const analyze::RecordingInfo &info)
{
	if (info.statistics && !question.selection.cpus.empty())
		throw Error("this recording has statistics instead of events (--statistics), which do not tell what "
			    "was on which CPU: leave out --cpu");
	if (info.has_only_states())
		throw Error(info.counts.empty() && info.times.empty()
				? "this recording has no events (--no-tokens), only run lengths of states: use "
				  "`monitor states DIR`"
				: "this recording has no events (--no-tokens), only counts and run lengths of states: "
				  "use `monitor report DIR counts` and `monitor states DIR`");
	if (!info.has_tokens)
		throw Error("this recording has no events (--no-tokens), only counts: use `monitor report DIR counts`");
	if (info.card == "user" && !question.report->of_programs)
		throw Error("this trace has only programs' own events (--user-only), none of the kernel's: use "
			    "`monitor report DIR activities`, or monitor list");
	if (question.report == &samples_report && info.partial.contains("sample"))
		throw Error("the recording's --filter left out samples, from which this table is made; `monitor list` "
			    "shows those that it kept");
}

void print_unknown_wakers(const analyze::RecordingInfo &info, const analyze::EventKinds &kinds)
{
	const auto is_recorded = [&](const char *program, bool is_in_kinds) {
		return info.present ? info.has_program(program) : is_in_kinds;
	};
	if (!is_recorded("sys_enter", kinds.has_calls()) || !is_recorded("sys_exit", kinds.has_calls()))
		print_note("monitor: system calls were not recorded, so the calls are unknown\n");
	if (!info.unknown_text().empty())
		return; // the summary reports it
	if (!is_recorded("irq_handler_entry", kinds.has_interrupts(false)) ||
	    !is_recorded("softirq_entry", kinds.has_interrupts(true)))
		print_note("monitor: interrupts were not recorded, so the wakers are unknown\n");
	else if (info.filtering())
		print_note("monitor: with -p, interrupts are recorded only while a selected thread runs, so wakers "
			   "elsewhere are unknown\n");
	else if (!info.present && !kinds.has_cpu_timers())
		print_note(
		    "monitor: this trace has no interrupts of the CPUs' timers, which may have woken threads, so "
		    "no thread is known as waker\n");
}

report::UsageOptions usage_options(const Question &question, const trace::Trace &trace,
				   const analyze::RecordingInfo &info, const analyze::ThreadFold &fold)
{
	report::UsageOptions options;
	options.grouping.filtering = info.filtering();
	if (const auto at = std::ranges::find(usual_groupings, question.by);
	    at != usual_groupings.end() && !question.report->of_programs && question.report != &stacks_report)
		options.grouping.by = static_cast<report::GroupBy>(at - usual_groupings.begin());
	options.recorded = analyze::recorded(trace, info, fold.kinds());
	options.with_sleepers =
	    !question.is_text() || !question.sort.empty() || question.top != 0 || !question.selection.threads.is_all();
	if (!question.selection.cpus.empty())
		options.recorded.wakings = false; // waiting and blocked times have no CPU
	if (options.grouping.by == report::GroupBy::cgroup)
		options.grouping.cgroup_paths = selection::cgroup_paths(trace.directory());
	return options;
}

std::string head_text(const analyze::RecordingInfo &info, double wall_ns)
{
	return (info.command.empty()
		    ? ""
		    : fmt::format("command: {} (its processes are marked *), ", printable(info.short_command()))) +
	       fmt::format("{} recorded on {}\n", report::duration_text(wall_ns),
			   info.host.empty() ? "?" : printable(info.host));
}

Answer answer_by_fold(const Question &question, trace::Trace &trace, MakeReport make)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	expect_fold(question, info);
	const trace::Clock &clock = trace.description().clock;
	Folded folded{question,
		      trace,
		      info,
		      clock,
		      question.every.empty() ? 0 : clock.to_ticks(parse_duration(question.every, "--every")),
		      analyze::ThreadFold(trace, info, question.selection.scope(trace, info))};
	if (trace.is_generic_ctf() && !trace.is_empty() &&
	    !folded.fold.kinds().has(analyze::EventMeaning::sched_switch))
		throw Error("this trace has no sched_switch events of a kernel, so it does not show who used the CPUs; "
			    "monitor info counts its events, monitor list prints them");
	analyze::ClockBound bound(trace.description(), info);
	const std::unique_ptr<FoldReport> report = make(folded);
	const bool gets_events = report->gets_events();
	const trace::Losses losses = analyze::feed(trace, folded.fold, [&](const trace::Event &event) {
		if (event.stream->is_recorder())
			bound.event(event);
		else if (gets_events)
			report->event(event);
	});
	report->finish();
	Answer answer;
	const auto print_others = [&] { // if there is no text
		const std::string text = report::others_text(report->shown_rows().value_or(report::ShownRows()));
		if (!text.empty())
			print_note("monitor: {}", text);
	};
	if (question.folded) {
		answer.text = report->folded();
		print_others();
		return answer;
	}
	folded.options = usage_options(question, trace, info, folded.fold);
	folded.cpus = report::cpu_table(folded.fold, clock, info, folded.options.recorded);
	report::Table table = report->table();
	print_filter_notes(trace, info, question.report->of_programs);
	question.sort_rows(table);
	if ((table.rows.empty() || folded.cpus.rows.empty()) && !question.selection.is_all())
		print_note("monitor: nothing in this trace matches the options\n");
	answer.charts = charts_of(question, table);
	const std::size_t hidden = question.keep_rows(table);
	report::Summary summary = report::summarize(trace, info, bound, folded.fold, losses);
	summary.shown_rows = report->shown_rows();
	summary.window = report::window_of(folded.fold, trace, question.selection.time_text(trace));
	if (question.csv)
		print_others();
	if (!answer.charts.empty())
		answer.notes = loss_warning(summary) + "\n" + report::damage_text(trace.problems().total()) +
			       report::summary_text(summary);
	if (question.json)
		answer.text = json_of(folded, *report, table, summary);
	else if (question.csv)
		set_csv(answer, question, std::move(table));
	else
		answer.text = text_of(folded, *report, table, hidden, summary, answer.charts);
	return answer;
}

} // namespace monitor::reports
