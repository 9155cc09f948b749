// SPDX-License-Identifier: MIT
// What the time of a thread was made of: its path back through those that it waited for (answers/path/).
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "answers/path/parts.h"
#include "answers/path/texts.h"
#include "answers/path/walk.h"
#include "answers/report/profile.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/text.h"
#include "fold_report.h"
#include "reading/activities/tracker.h"
#include "reading/analyze/fold_input.h"
#include "reading/analyze/recorded.h"

namespace monitor::reports {
namespace {

using report::Table;
using report::Unit;

void expect_switches(const analyze::RecordingInfo &info, const analyze::EventKinds &kinds)
{
	using enum analyze::EventMeaning;
	const auto expect = [&](const char *event, analyze::EventMeaning kind) {
		if (info.present ? !info.has_program(event) : !kinds.has(kind))
			throw Error("{} was not recorded, or a --filter left events of it out, so no path can be "
				    "followed: record the families sched and irq, without --filter",
				    event);
	};
	expect("sched_switch", sched_switch);
	expect("sched_waking", sched_waking);
}

bool has_interrupts(const Folded &of)
{
	const analyze::Recorded recorded = analyze::recorded(of.trace, of.info, of.fold.kinds());
	return recorded.interrupts && recorded.softirqs && of.info.unknown_text().empty() && !of.info.filtering();
}

// Those of one name that have ended.
class ChosenActivities final : public activities::Observer {
public:
	struct One {
		const analyze::Thread *thread;
		std::uint64_t begin, end;
	};

	explicit ChosenActivities(Folded &of)
	    : of_(of), is_call_(!of.question.call.empty()), name_(is_call_ ? of.question.call : of.question.activity),
	      tracker_(analyze::input_of(of.trace, of.info), of.fold, {})
	{
		tracker_.add(*this);
		of.fold.add(tracker_);
	}

	void finished(const activities::Finished &activity) override
	{
		using enum activities::ActivitySource;
		if (activity.source != (is_call_ ? system_call : program) || activity.end <= activity.begin)
			return;
		const auto [known, is_new] = is_named_.try_emplace(activity.number);
		if (is_new)
			known->second = name_ == (is_call_ ? of_.fold.kinds().syscall_label(activity.number)
							   : tracker_.label(activity.number));
		if (known->second)
			all_.push_back({&activity.thread, activity.begin, activity.end});
	}
	void finish() { tracker_.finish(); }
	const std::vector<One> &all() const { return all_; }
	const std::string &name() const { return name_; }

private:
	const Folded &of_;
	const bool is_call_;
	const std::string name_;
	activities::Tracker tracker_;
	std::unordered_map<std::uint32_t, bool> is_named_;
	std::vector<One> all_;
};

class CriticalPath final : public FoldReport {
public:
	explicit CriticalPath(Folded &of)
	    : FoldReport(of), stretches_(of.fold, has_interrupts(of), !of.info.filtering()),
	      paths_(stretches_, of.question.folded)
	{
		expect_switches(of.info, of.fold.kinds());
		tell_unknown_wakers(of.info, of.fold.kinds());
		if (!of.question.call.empty() || !of.question.activity.empty())
			activities_.emplace(of);
		of.fold.add(static_cast<analyze::Observer &>(stretches_));
		of.fold.add(static_cast<analyze::TimeObserver &>(stretches_));
		gets_events_ = true;
	}

	void event(const trace::Event &event) override { stretches_.after(event); }
	void finish() override;
	std::string folded() override;
	Table table() override;
	std::string above() const override;
	std::string below() const override;
	std::string members() const override;

private:
	bool is_of_command() const;
	const analyze::Thread &start() const;
	std::uint32_t last_of(const analyze::Thread &first) const;
	trace::TimeRange range(const path::ThreadStretches &first, const path::ThreadStretches &last);
	path::IsInside inside(const analyze::Thread &start) const;
	void follow_activities();
	void follow_thread();
	bool is_bounded() const { return activities_ || of_.question.bounded; }
	// Of times since the path's begin, so that differences sum to the elapsed time exactly.
	std::uint64_t ns(std::uint64_t ticks) const { return of_.clock.to_ns(ticks); }
	std::string who_text(std::uint32_t who) const;
	std::uint64_t unknown() const;
	Table links() const;

	path::Stretches stretches_;
	std::optional<ChosenActivities> activities_; // else it is a thread's path
	path::Paths paths_;
	std::optional<path::Parts> parts_;
	std::size_t count_ = 0; // of activities
	std::string whose_;     // the thread, as it was at the end
	const char *from_ = "", *to_ = "";
};

bool CriticalPath::is_of_command() const
{
	const selection::ThreadSelection &threads = of_.question.selection.threads;
	return threads.is_all() || threads.command;
}

// The recorded command's first thread, or the one that is selected: of processes the first one each.
const analyze::Thread &CriticalPath::start() const
{
	const selection::ThreadSelection &threads = of_.question.selection.threads;
	if (is_of_command() && !of_.info.command_pid)
		throw Error("this recording has no command: name the thread whose path is to be followed with --pid, "
			    "--tid or --comm");
	std::vector<const analyze::Thread *> found;
	for (std::size_t i = 0; i < of_.fold.threads().size(); ++i) {
		const analyze::Thread &thread = of_.fold.threads()[i];
		const bool is_wanted = is_of_command() ? thread.tgid == of_.info.command_pid
						       : thread.tid != 0 && of_.fold.scope().includes_thread(i);
		if (is_wanted && stretches_.find(thread) != path::nobody)
			found.push_back(&thread);
	}
	if (found.empty() && is_of_command() && !of_.info.complete())
		throw Error("this trace has nothing of its command: the recording was killed or its disk was full");
	if (found.empty())
		throw Error(is_of_command() ? "the command did nothing in this time"
					    : "no thread that is selected did anything in this time");
	const auto leads = [](const analyze::Thread *thread) { return thread->tid == thread->tgid; };
	if ((is_of_command() || !threads.pids.empty()) && std::ranges::any_of(found, leads))
		std::erase_if(found, [&](const analyze::Thread *thread) { return !leads(thread); });
	if (found.size() > 1 && !is_of_command())
		throw Error(
		    "{} threads are selected, such as {}-{} and {}-{}: a path is that of one, name it with --tid",
		    found.size(), printable(found[0]->label()), found[0]->tid, printable(found[1]->label()),
		    found[1]->tid);
	return *found.front();
}

// A process ends with its last thread, which need not be the first one: that is where its path ends.
std::uint32_t CriticalPath::last_of(const analyze::Thread &first) const
{
	const auto ends = [](const path::ThreadStretches &of) { return of.died ? of.died : ~0ull; };
	const auto &threads = stretches_.threads();
	std::uint32_t last = stretches_.find(first);
	if (!is_of_command() && of_.question.selection.threads.pids.empty())
		return last;
	for (std::uint32_t i = 0; i < threads.size(); ++i)
		if (threads[i].thread->tgid == first.tgid && !threads[i].stretches.empty() &&
		    ends(threads[i]) > ends(threads[last]))
			last = i;
	return last;
}

trace::TimeRange CriticalPath::range(const path::ThreadStretches &first, const path::ThreadStretches &of)
{
	const bool is_of_command = first.thread->tid == of_.info.command_pid && first.executed;
	const std::uint64_t begins =
	    is_of_command ? first.executed : std::max(first.thread->born, first.stretches.front().begin);
	const std::uint64_t ends = of.died ? of.died : std::max(of.end, of_.fold.window_end());
	const trace::TimeRange range = {std::max(begins, of_.fold.window_begin()),
					std::min(ends, of_.fold.window_end())};
	const selection::Selection &selection = of_.question.selection;
	from_ = range.from > begins  ? selection.from.empty() ? "the start" : "--from"
		: is_of_command      ? "exec"
		: first.thread->born ? "creation"
				     : "the start";
	to_ = of.died && range.to == of.died ? "exit" : selection.to.empty() ? "the end" : selection.end_option;
	if (range.from >= range.to)
		throw Error("{}-{} did nothing in this time", printable(first.thread->label()), first.thread->tid);
	return range;
}

// The recorded command's tree; of a thread that is not in it, its process.
path::IsInside CriticalPath::inside(const analyze::Thread &start) const
{
	return [this, &start](std::uint32_t place) {
		const analyze::Thread &thread = *stretches_.threads()[place].thread;
		return start.in_tree ? thread.in_tree : thread.tgid == start.tgid;
	};
}

void CriticalPath::follow_thread()
{
	const analyze::Thread &thread = start();
	const path::ThreadStretches &first = stretches_.threads()[stretches_.find(thread)];
	const std::uint32_t last = last_of(thread);
	const trace::TimeRange wanted = range(first, stretches_.threads()[last]);
	whose_ = path::thread_text(first, ~0ull, stretches_.names());
	if (is_bounded())
		paths_.add_bounded(last, wanted);
	else
		paths_.add_critical(last, wanted, inside(thread));
}

// Those of the recorded command, if there is one and no others are selected.
void CriticalPath::follow_activities()
{
	activities_->finish();
	const bool of_command = of_.info.command_pid && of_.question.selection.threads.is_all();
	for (const ChosenActivities::One &one : activities_->all()) {
		const std::uint32_t place = stretches_.find(*one.thread);
		const std::uint64_t begin = std::max(one.begin, of_.fold.window_begin());
		if (place == path::nobody || (of_command && !one.thread->in_tree) || begin >= one.end)
			continue;
		paths_.add_bounded(place, {begin, one.end});
		++count_;
	}
	if (count_ == 0)
		throw Error("nothing called {} has begun and ended in what is selected", readable(activities_->name()));
}

void CriticalPath::finish()
{
	FoldReport::finish();
	if (activities_)
		follow_activities();
	else
		follow_thread();
	parts_.emplace(stretches_, paths_,
		       of_.question.by == "thread" ? path::Parts::Who::thread : path::Parts::Who::name);
	analyze::ThreadFold second(of_.trace, of_.info, {of_.fold.scope().range, {}, {}});
	second.add(*parts_);
	trace::Problems ignored; // they are those of the first
	trace::merge(
	    std::as_const(of_.trace), ignored, {}, [&](const trace::Event &event) { second.event(event); },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
		    second.gap(stream, from, to);
	    });
	second.finish();
	parts_->finish();
}

std::string CriticalPath::who_text(std::uint32_t who) const
{
	const path::Names &names = stretches_.names();
	return of_.question.by == "thread" ? path::thread_text(stretches_.threads()[who], ~0ull, names) : names[who];
}

// The differences between sums are rounded, not the times: they sum to the elapsed time exactly.
Table CriticalPath::table()
{
	if (of_.question.csv && of_.question.links)
		return links();
	std::map<std::pair<std::string, std::string>, std::uint64_t> sums; // what, who
	for (const auto &[part, ticks] : parts_->ticks())
		sums[{path::what_text(part, of_.fold.kinds(), stretches_.names()), who_text(part.who)}] += ticks;
	std::vector<std::pair<std::pair<std::string, std::string>, std::uint64_t>> rows(sums.begin(), sums.end());
	std::ranges::stable_sort(rows, std::greater<>(), &decltype(rows)::value_type::second);
	const bool is_text = of_.question.is_text();
	const char *const what = is_text ? "who, and what it did or waited for" : "what it did or waited for";
	const std::vector<report::Column> whats = {{"what", "what", Unit::text, 0, what},
						   {"thread", "thread", Unit::text, 0, "who"}};
	const std::vector<report::Column> times = {
	    {"time_ns", "time", Unit::nanoseconds, 0, "of the path"},
	    {"share", "share%", is_text ? Unit::percent : Unit::ratio, 0, "of the elapsed time"}};
	Table table;
	table.figure = {"time_ns", ""};
	table.columns = is_text ? times : whats;
	table.columns.insert(table.columns.end(), (is_text ? whats : times).begin(),
			     (is_text ? whats : times).end() - is_text);
	std::uint64_t sum = 0;
	for (const auto &[names, ticks] : rows) {
		const std::uint64_t time = ns(sum + ticks) - ns(sum);
		const double share = static_cast<double>(ticks) / static_cast<double>(paths_.total());
		sum += ticks;
		if (is_text)
			table.rows.push_back({time, share * 100, names.second + " " + names.first});
		else
			table.rows.push_back({names.first, names.second, time, share});
	}
	return table;
}

// Of activities one after the other, each from its own begin.
Table CriticalPath::links() const
{
	Table table;
	table.columns = {{"start_ns", "from", Unit::nanoseconds, 0, "since the path's begin"},
			 {"time_ns", "time", Unit::nanoseconds, 0, "how long"},
			 {"thread", "thread", Unit::text, 0, "who"},
			 {"what", "what", Unit::text, 0, "what it did or waited for"}};
	const bool is_by_thread = of_.question.by == "thread";
	const auto &links = paths_.links();
	std::uint64_t begin = links.front().begin, sum = 0;
	for (std::size_t i = 0; i < links.size(); ++i) {
		const path::Link &link = links[i];
		if (link.thread == path::nobody) {
			begin = i + 1 < links.size() ? links[i + 1].begin : 0;
			continue;
		}
		const std::uint64_t before = sum;
		sum += paths_.end_of(i) - link.begin;
		table.rows.push_back({ns(link.begin - begin), ns(sum) - ns(before),
				      path::thread_text(stretches_.threads()[link.thread],
							is_by_thread ? ~0ull : link.begin, stretches_.names()),
				      path::link_text(link, parts_->part_of(link, paths_.end_of(i)), of_.fold.kinds(),
						      stretches_.names())});
	}
	return table;
}

std::uint64_t CriticalPath::unknown() const
{
	std::uint64_t unknown = 0;
	for (const auto &[part, ticks] : parts_->ticks())
		unknown += path::is_unknown(part) ? ticks : 0;
	return unknown;
}

std::string CriticalPath::above() const
{
	const std::string elapsed = report::duration_text(static_cast<double>(ns(paths_.total())));
	const std::string what = activities_
				     ? fmt::format("{} of {}, {} together", report::count_text(count_),
						   printable(activities_->name()), elapsed)
				     : fmt::format("{}, {} from {} to {}{}", printable(whose_), elapsed, from_, to_,
						   is_bounded() ? ", with what others did while it slept" : "");
	return fmt::format("{}; parts sum exactly; {:.2f} % unknown\n", what,
			   100 * static_cast<double>(unknown()) / static_cast<double>(paths_.total()));
}

std::string CriticalPath::below() const
{
	if (!of_.question.links)
		return "";
	Table table = links();
	const std::size_t hidden = of_.question.keep_rows(table);
	return report::to_text(table, of_.question.width) + report::more_rows_text(hidden);
}

std::string CriticalPath::members() const
{
	std::string text =
	    activities_ ? fmt::format("\"activity\": {},\n\"count\": {},\n", json_text(activities_->name()), count_)
			: fmt::format("\"thread\": {},\n", json_text(whose_));
	text += fmt::format("\"path\": \"{}\",\n\"elapsed_ns\": {},\n\"unknown_ns\": {},\n",
			    is_bounded() ? "bounded" : "critical", ns(paths_.total()), ns(unknown()));
	return of_.question.links ? text + fmt::format("\"links\": {},\n", report::to_json(links())) : text;
}

// Each sleep with the call, then the thread, then what it did.
std::string CriticalPath::folded()
{
	std::map<std::string, std::uint64_t> sums;
	for (const auto &[part, ticks] : parts_->ticks()) {
		std::string line = report::folded_frame(who_text(part.who)) + ";" +
				   report::folded_frame(path::what_text(part, of_.fold.kinds(), stretches_.names()));
		for (std::uint32_t place = part.sleep; place != 0; place = paths_.sleeps()[place].outer) {
			const path::Sleep &sleep = paths_.sleeps()[place];
			const path::ThreadStretches &of = stretches_.threads()[sleep.thread];
			const std::uint32_t who = of_.question.by == "thread" ? sleep.thread : of.name_at(~0ull);
			const std::string call =
			    sleep.call == EDC_NO_SYSCALL ? "" : " in " + of_.fold.kinds().syscall_label(sleep.call);
			line.insert(0, report::folded_frame(who_text(who) + call) + ";");
		}
		sums[line] += ticks;
	}
	std::string text;
	for (const auto &[line, ticks] : sums)
		if (const std::uint64_t us = (ns(ticks) + 500) / 1000)
			text += fmt::format("{} {}\n", line, us);
	return text;
}

} // namespace

const Report critical_path_report{"critical-path",
				  "what the elapsed time of a command or a thread was made of",
				  {"command", "thread"},
				  false,
				  answer_with<CriticalPath>,
				  false,
				  false,
				  true};

} // namespace monitor::reports
