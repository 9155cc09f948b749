// SPDX-License-Identifier: MIT
#include "exec_exchange.h"

#include <algorithm>

namespace monitor::analyze {
namespace {

// The token that says a thread's process is missing if -p left it out, or if the thread is older than the recording.
bool has_unknown_process(const Thread &thread)
{
	return !thread.introduced && thread.tid != 0 && !thread.hidden;
}

bool may_be_of_process(const Thread &ran, const Thread &runs)
{
	return has_unknown_process(ran) && runs.tid != 0 && runs.tid == runs.tgid;
}

} // namespace

// One of the two is their process's first thread.
bool ExecExchange::may_exchange(const Thread &ran, const Thread &left)
{
	return ran.tgid == left.tgid && (ran.tid == ran.tgid || left.tid == left.tgid) && !ran.hidden;
}

bool ExecExchange::explains_switch(const Thread &ran, const Thread &left, std::uint64_t time, const Cpu &cpu)
{
	if (may_exchange(ran, left))
		return true;
	if (!ran.filtered || !left.filtered || !may_be_of_process(ran, left))
		return false;
	unconfirmed_.push_back({left.tid, ran.tid, time, cpu.number, true});
	return true;
}

bool ExecExchange::may_explain(const Thread &ran, const Thread &runs, std::uint64_t time, const Cpu &cpu)
{
	if (!may_be_of_process(ran, runs))
		return false;
	unconfirmed_.push_back({runs.tid, ran.tid, time, cpu.number, false});
	return true;
}

ExecExchange::Shown ExecExchange::executed(const Thread &thread, const Thread *before, std::int32_t before_tid,
					   bool runs, bool before_known)
{
	const auto is_this_exec = [&](const UnconfirmedExchange &exec) {
		return exec.tid == thread.tid && exec.old_tid == before_tid;
	};
	const auto found = std::ranges::find_if(unconfirmed_, is_this_exec);
	const bool is_unconfirmed = found != unconfirmed_.end(), is_done = is_unconfirmed && found->is_done;
	std::erase_if(unconfirmed_, is_this_exec);
	if (!before || before == &thread)
		return Shown::nothing;
	if (is_unconfirmed && !is_done)
		return before_known ? Shown::take_over : Shown::nothing;
	if (!runs)
		return before_known && before->state == State::dead ? Shown::nothing : Shown::exchange;
	// A thread that does not run can have become another one.
	return before_known && (before->state == State::blocked || before->state == State::runnable) ? Shown::take_over
												     : Shown::nothing;
}

} // namespace monitor::analyze
