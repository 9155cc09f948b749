// SPDX-License-Identifier: MIT
#include "subject.h"

#include <algorithm>

#include "base/error.h"
#include "base/escape.h"
#include "reading/analyze/recorded.h"
#include "texts.h"

namespace monitor::path {

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

Stretches::Recorded recorded(const trace::Trace &trace, const analyze::RecordingInfo &info,
			     const analyze::EventKinds &kinds)
{
	const analyze::Recorded recorded = analyze::recorded(trace, info, kinds);
	return {recorded.interrupts && recorded.softirqs && info.unknown_text().empty() && !info.filtering(),
		recorded.calls, !info.filtering()};
}

bool records_command(const analyze::RecordingInfo &info)
{
	return info.command_pid && (info.filter.pids.empty() || info.filter.command);
}

std::int64_t recorded_process(const analyze::RecordingInfo &info)
{
	if (records_command(info))
		return info.command_pid;
	return info.filter.pids.size() == 1 ? info.filter.pids.front() : 0;
}

bool SubjectChoice::is_of_recorded() const
{
	return selection_.threads.is_all() || selection_.threads.command;
}

void SubjectChoice::throw_no_thread() const
{
	if (!is_of_recorded())
		throw Error("no thread that is selected did anything in this time");
	const bool is_of_command = records_command(info_) || selection_.threads.command;
	const char *const whose = is_of_command ? "command" : "process";
	if (!info_.complete())
		throw Error("this trace has nothing of its {}: the recording was killed or its disk was full", whose);
	throw Error("the {} did nothing in this time", whose);
}

// The recorded process's first thread, or the selected one; of a selected process its first one. If several had its
// number one after the other: the one that did something in this time.
const analyze::Thread &SubjectChoice::first_thread(trace::TimeRange window) const
{
	const selection::ThreadSelection &threads = selection_.threads;
	const std::int64_t recorded = threads.command ? info_.command_pid : recorded_process(info_);
	if (is_of_recorded() && !recorded && info_.filter.pids.size() > 1)
		throw Error("this recording is of {} processes (-p), not of a command: choose one with --pid, such as "
			    "--pid {}",
			    info_.filter.pids.size(), info_.filter.pids.front());
	if (is_of_recorded() && !recorded)
		throw Error("this recording has no command: name the thread whose path is to be followed with --pid, "
			    "--tid or --comm");
	std::vector<const analyze::Thread *> found;
	for (std::size_t i = 0; i < fold_.threads().size(); ++i) {
		const analyze::Thread &thread = fold_.threads()[i];
		const bool is_wanted =
		    is_of_recorded() ? thread.tgid == recorded : thread.tid != 0 && scope_.includes_thread(i);
		const std::uint32_t index = is_wanted ? stretches_.find(thread) : nobody;
		if (index == nobody)
			continue;
		const ThreadStretches &of = stretches_.threads()[index];
		if (of.stretches.front().begin < window.to && of.end > window.from)
			found.push_back(&thread);
	}
	if (found.empty())
		throw_no_thread();
	const auto is_leader = [](const analyze::Thread *thread) { return thread->tid == thread->tgid; };
	if ((is_of_recorded() || !threads.pids.empty()) && std::ranges::any_of(found, is_leader))
		std::erase_if(found, [&](const analyze::Thread *thread) { return !is_leader(thread); });
	if (found.size() > 1 && !is_of_recorded() && found[0]->tid == found[1]->tid)
		throw Error("several threads had the number {} one after the other: choose one with --from and --to",
			    found[0]->tid);
	if (found.size() > 1 && !is_of_recorded())
		throw Error(
		    "{} threads are selected, such as {}-{} and {}-{}: a path is that of one, name it with --tid",
		    found.size(), printable(found[0]->label()), found[0]->tid, printable(found[1]->label()),
		    found[1]->tid);
	return *found.front();
}

// A process ends with its last thread, which need not be the first one: that is where its path ends.
std::uint32_t SubjectChoice::last_of(const analyze::Thread &first) const
{
	// A thread that executes a program takes over its process's number, and its own is gone.
	const auto end_of = [](const ThreadStretches &of) {
		const bool is_gone = of.thread->tid != of.thread->tgid && !of.exchanges.empty();
		return of.died ? of.died : is_gone ? of.exchanges.back().time : ~0ull;
	};
	const auto &threads = stretches_.threads();
	std::uint32_t last = stretches_.find(first);
	if (!is_of_recorded() && selection_.threads.pids.empty())
		return last;
	std::uint64_t reused_at = ~0ull; // when a later process got the number
	for (const ThreadStretches &of : threads)
		if (of.thread->tid == first.tgid && of.thread->born > first.born)
			reused_at = std::min(reused_at, of.thread->born);
	for (std::uint32_t i = 0; i < threads.size(); ++i)
		if (threads[i].thread->tgid == first.tgid && threads[i].thread->born < reused_at &&
		    !threads[i].stretches.empty() && end_of(threads[i]) > end_of(threads[last]))
			last = i;
	return last;
}

void SubjectChoice::set_range(Subject &subject, const ThreadStretches &first, trace::TimeRange window) const
{
	const ThreadStretches &of = stretches_.threads()[subject.last];
	const bool is_of_command = first.thread->tid == info_.command_pid && first.executed;
	const std::uint64_t begins =
	    is_of_command ? first.executed : std::max(first.thread->born, first.stretches.front().begin);
	subject.end = of.died ? of.died : std::max(of.end, fold_.window_end());
	subject.range = {std::max(begins, window.from), std::min(subject.end, window.to)};
	// A fold of a part of the time has no stretches before it.
	const std::uint64_t born = is_of_command ? first.executed : first.thread->born;
	const bool is_cut = subject.range.from == window.from && !selection_.from.empty();
	subject.from = born != 0 && born >= window.from ? is_of_command ? "exec" : "creation"
		       : is_cut                         ? "--from"
							: "the start";
	subject.to = of.died && subject.range.to == of.died ? "exit"
		     : selection_.to.empty()                ? "the end"
							    : selection_.end_option;
	if (subject.range.from >= subject.range.to)
		throw Error("{}-{} did nothing in this time", printable(first.thread->label()), first.thread->tid);
}

Subject SubjectChoice::choose(trace::TimeRange window) const
{
	Subject subject;
	subject.start = &first_thread(window);
	const ThreadStretches &first = stretches_.threads()[stretches_.find(*subject.start)];
	subject.last = last_of(*subject.start);
	set_range(subject, first, window);
	subject.name = thread_text(first, ~0ull, stretches_.names());
	return subject;
}

IsInside SubjectChoice::inside(const Subject &subject) const
{
	return [this, &subject](std::uint32_t index) { return subject.includes(*stretches_.threads()[index].thread); };
}

} // namespace monitor::path
