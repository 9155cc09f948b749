// SPDX-License-Identifier: MIT
#include "exec_exchange.h"

namespace monitor::analyze {
namespace {

// -p left out the tokens that say which process it belongs to.
bool has_unknown_process(const Thread &thread)
{
	return thread.filtered && !thread.introduced && thread.tid != 0;
}

bool may_be_of_process(const Thread &ran, const Thread &left)
{
	return has_unknown_process(ran) && (has_unknown_process(left) || (left.filtered && left.tid == left.tgid));
}

} // namespace

// One of the two is the first of their process.
bool ExecExchange::are_of_process(const Thread &ran, const Thread &left)
{
	return ran.tgid == left.tgid && (ran.tid == ran.tgid || left.tid == left.tgid) && !ran.hidden;
}

bool ExecExchange::explains_switch(const Thread &ran, const Thread &left, std::uint64_t time, const Cpu &cpu)
{
	if (are_of_process(ran, left))
		return true;
	if (!may_be_of_process(ran, left))
		return false;
	supposed_.push_back({left.tid, ran.tid, time, cpu.number});
	return true;
}

ExecExchange::Shown ExecExchange::executed(const Thread &thread, const Thread *before, std::int32_t before_tid,
					   bool runs, bool before_known)
{
	std::erase_if(supposed_,
		      [&](const Supposed &exec) { return exec.tid == thread.tid && exec.old_tid == before_tid; });
	if (!before || before == &thread)
		return Shown::nothing;
	if (!runs)
		return before_known && before->state == State::dead ? Shown::nothing : Shown::exchange;
	// One that does not run can have become another one.
	return before_known && (before->state == State::blocked || before->state == State::runnable) ? Shown::take_over
												     : Shown::nothing;
}

} // namespace monitor::analyze
