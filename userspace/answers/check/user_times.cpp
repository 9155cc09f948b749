// SPDX-License-Identifier: MIT
#include "user_times.h"

#include <algorithm>

#include "base/grow.h"

namespace monitor::check {
namespace {

constexpr std::uint32_t max_posting_cpus = 8192;
constexpr std::size_t max_waiting = 1024;

} // namespace

UserTimes::OnCpu *UserTimes::cpu(const trace::Event &event)
{
	if (!event.stream->has_cpu() || event.cpu() >= max_posting_cpus)
		return nullptr;
	return &grow_to(cpus_, event.cpu());
}

void UserTimes::note_violation(std::uint64_t ticks, std::uint64_t time)
{
	if (ticks <= largest_)
		return;
	largest_ = ticks;
	largest_time_ = time;
}

void UserTimes::event(const trace::Event &event)
{
	const EventKind &kind = fold_.kinds()[*event.cls];
	if (kind.kind != EventMeaning::sched_switch)
		return;
	if (OnCpu *on = cpu(event))
		on_switch(*on, kind.field[1].get<std::int32_t>(event), kind.field[2].get<std::int32_t>(event),
			  event.time);
}

// A thread that is switched out without a switch in came unseen: then its waiting tokens are no contradiction.
void UserTimes::on_switch(OnCpu &cpu, std::int32_t prev, std::int32_t next, std::uint64_t time)
{
	if (cpu.running == prev)
		for (const Waiting &token : cpu.waiting)
			note_violation(std::min(token.since_out, time - token.time), token.time);
	cpu.waiting.clear();
	cpu.running = next;
	if (prev != 0)
		cpu.out[prev] = time;
}

void UserTimes::gap(const trace::StreamInfo &stream)
{
	if (stream.is_user())
		return;
	in_call_.clear();
	if (stream.has_cpu() && stream.cpu < cpus_.size())
		cpus_[stream.cpu] = {};
}

void UserTimes::user_event(const Thread &thread, const trace::Event &event)
{
	OnCpu *on = cpu(event);
	if (thread.hidden || !on)
		return;
	++tokens_;
	if (thread.state == State::running && thread.ring == Ring::system_call && thread.syscall_known) {
		InCall &call = in_call_[&thread];
		if (call.entry != thread.syscall_since)
			call = {thread.syscall_since, {}};
		if (call.times.size() < max_waiting)
			call.times.push_back(event.time);
	}
	if (on->running == -1 || on->running == thread.tid || on->waiting.size() >= max_waiting)
		return;
	const auto out = on->out.find(thread.tid);
	on->waiting.push_back({thread.tid, event.time, out == on->out.end() ? ~0ull : event.time - out->second});
}

void UserTimes::system_call(const Thread &thread, std::uint32_t, std::uint64_t begin, std::uint64_t end, std::int64_t)
{
	++calls_;
	const auto call = in_call_.find(&thread);
	if (call == in_call_.end())
		return;
	for (const std::uint64_t time : call->second.times)
		if (time <= end)
			note_violation(std::min(time - begin, end - time), time);
	in_call_.erase(call);
}

void UserTimes::judge(std::uint64_t allowed, const trace::Clock &clock, Statements &statements) const
{
	const bool switches = std::ranges::any_of(cpus_, [](const OnCpu &cpu) { return cpu.running != -1; });
	if (!tokens_ || !switches)
		return;
	const std::string text = fmt::format("user tokens are where their thread runs, outside its {} system calls: {} "
					     "of them, at most {} ns off; the clock bound is {} ns",
					     calls_, tokens_, clock.to_ns(largest_), clock.to_ns(allowed));
	if (largest_ > allowed)
		statements.add("user_times", Verdict::fails,
			       "{} user tokens: one is {} ns inside a system call of its thread, or inside a time when "
			       "its thread does not run; the clock bound is {} ns",
			       tokens_, clock.to_ns(largest_), clock.to_ns(allowed));
	else
		statements.add("user_times", Verdict::holds, text);
}

} // namespace monitor::check
