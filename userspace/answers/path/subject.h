// SPDX-License-Identifier: MIT
// Whose path is followed, from when to when, and what is inside: the recorded command or the only process of record -p,
// or the thread or process that is selected.
#pragma once

#include "answers/selection/selection.h"
#include "reading/analyze/recording_info.h"
#include "walk.h"

namespace monitor::path {

struct Subject {
	const analyze::Thread *start = nullptr; // the first thread
	std::uint32_t last = nobody;            // where the path ends: a process ends with its last thread
	std::string name;                       // "make-4711", as it was at the end
	trace::TimeRange range;                 // the wanted part of the path
	std::uint64_t end = 0;                  // of the whole path
	const char *from = "", *to = "";        // what the range begins and ends with

	// The recorded command's tree; of a thread that is not in it, its process.
	bool includes(const analyze::Thread &thread) const
	{
		return start->in_tree ? thread.in_tree : thread.tgid == start->tgid;
	}
};

// The command was recorded: with record -p PID it was not, also if there is one.
bool records_command(const analyze::RecordingInfo &info);
// Whose path it is if no thread is selected: the recorded command or else the only process that record -p was given. 0:
// none.
std::int64_t recorded_process(const analyze::RecordingInfo &info);
// Throws Error if a path needs events that were not recorded.
void expect_switches(const analyze::RecordingInfo &info, const analyze::EventKinds &kinds);
Stretches::Recorded recorded(const trace::Trace &trace, const analyze::RecordingInfo &info,
			     const analyze::EventKinds &kinds);

class SubjectChoice {
public:
	// `scope`: the selection's. All must outlive it.
	SubjectChoice(const analyze::ThreadFold &fold, const analyze::RecordingInfo &info,
		      const selection::Selection &selection, const analyze::Scope &scope, const Stretches &stretches)
	    : fold_(fold), info_(info), selection_(selection), scope_(scope), stretches_(stretches)
	{
	}

	// `window`: the time that is wanted. Throws Error.
	Subject choose(trace::TimeRange window) const;
	// Whether the subject, which must outlive this, includes a thread.
	IsInside inside(const Subject &subject) const;

private:
	bool is_of_recorded() const; // of recorded_process(), or --command
	[[noreturn]] void throw_no_thread() const;
	const analyze::Thread &first_thread(trace::TimeRange window) const;
	std::uint32_t last_of(const analyze::Thread &first) const;
	void set_range(Subject &subject, const ThreadStretches &first, trace::TimeRange window) const;

	const analyze::ThreadFold &fold_;
	const analyze::RecordingInfo &info_;
	const selection::Selection &selection_;
	const analyze::Scope &scope_;
	const Stretches &stretches_;
};

} // namespace monitor::path
