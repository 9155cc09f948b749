// SPDX-License-Identifier: MIT
#include "call_times.h"

#include <algorithm>
#include <utility>

namespace monitor::diff {

using analyze::Mode;
using analyze::Ring;
using analyze::Thread;

bool is_ours(const Thread &thread, Ours ours)
{
	return ours == Ours::command ? thread.in_tree : ours == Ours::selected && !thread.filtered;
}

void CallTimes::system_call(const Thread &thread, std::uint32_t number, std::uint64_t, std::uint64_t, std::int64_t)
{
	++threads_[&thread].calls[number].count;
}

void CallTimes::refused_call(const Thread &thread, std::uint32_t call, std::uint64_t, std::int64_t)
{
	++threads_[&thread].calls[call].count;
}

void CallTimes::spent(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to, Mode mode, bool)
{
	if (!cpu.current || cpu.current->tid == 0)
		return;
	const Thread &thread = *cpu.current;
	const bool in_call = thread.ring == Ring::system_call && thread.syscall != EDC_NO_SYSCALL;
	if (!in_call && thread.ring != Ring::fault)
		return;
	ThreadTimes &times = threads_[&thread];
	CallTime &part = in_call ? times.calls[thread.syscall] : times.faults;
	part.path += std::exchange(times.pending_path, 0);
	if (mode == Mode::kernel)
		part.kernel += to - from;
}

void CallTimes::moved(const analyze::Cpu &cpu, Mode from, Mode to, std::uint64_t ticks)
{
	if (!cpu.current || cpu.current->tid == 0 || to != Mode::unattributed)
		return;
	ThreadTimes &times = threads_[cpu.current];
	if (from == Mode::kernel) // a fault that did not complete
		times.faults.kernel -= std::min(ticks, times.faults.kernel);
	else if (from == Mode::user && cpu.current->usage[Mode::user] >= ticks) // else the ThreadFold leaves it there
		times.pending_path += ticks;
}

// The recorder creates the command's process, which waits until all probes are attached. With -p its wake-up by the
// recorder is not recorded. An interrupt wakes for reasons of its own, also where it interrupts the recorder.
bool CallTimes::is_before_start(const Thread &thread, std::uint64_t from, const analyze::Waker &waker) const
{
	if (thread.tid != info_.command_pid)
		return false;
	const bool since_before = !info_.flight && info_.start_time() && from <= *info_.start_time();
	const bool is_by_thread = waker.thread && waker.interrupt < 0;
	return since_before || (is_by_thread && !waker.thread->in_tree && waker.thread->tgid == thread.parent);
}

bool CallTimes::is_by_own(const Thread &thread, const analyze::Waker &waker) const
{
	return same_wakers_ && waker.thread && waker.interrupt < 0 && is_ours(thread, ours_) &&
	       is_ours(*waker.thread, ours_);
}

CallTimes::EndedBy CallTimes::ended_by(const Thread &thread, std::uint64_t from, const analyze::Waker &waker) const
{
	if (is_before_start(thread, from, waker))
		return EndedBy::recorder;
	return is_by_own(thread, waker) ? EndedBy::own : EndedBy::other;
}

void CallTimes::slept(const Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker, bool)
{
	const EndedBy by = ended_by(thread, from, waker);
	if (by == EndedBy::recorder)
		command_start_ = to;
	SleepTime &sleep = threads_[&thread].sleeps[{thread.syscall, by}];
	sleep.ticks += to - from;
	++sleep.count;
}

void CallTimes::sleeps(const Thread &thread, std::uint32_t call, const analyze::Waker &waker,
		       const analyze::Summed &summed)
{
	if (summed.count == 0) // only the wait for a CPU after a sleep of the previous period
		return;
	const EndedBy by = is_by_own(thread, waker) ? EndedBy::own : EndedBy::other;
	SleepTime &sleep = threads_[&thread].sleeps[{call, by}];
	sleep.ticks += summed.total;
	sleep.count += summed.count;
}

const CallTimes::ThreadTimes *CallTimes::find(const Thread &thread) const
{
	const auto found = threads_.find(&thread);
	return found == threads_.end() ? nullptr : &found->second;
}

} // namespace monitor::diff
