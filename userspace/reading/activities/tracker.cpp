// SPDX-License-Identifier: MIT
#include "tracker.h"

#include <algorithm>
#include <utility>

namespace monitor::activities {
namespace {

using analyze::Thread;

constexpr std::uint32_t unknown_process = ~0u; // as in ThreadFold: the stream has not reported it yet
constexpr std::uint32_t many_processes = 0;    // no process has this number
// Prefixes that the recorder gives the names of streams of many processes.
constexpr const char *merged_streams[] = {"user_merged", "user_shared"};

} // namespace

Tracker::Tracker(const analyze::FoldInput &input, const analyze::ThreadFold &fold, Options options)
    : with_transfers_(options.with_transfers), names_(input, options.counters),
      open_(names_, fold, observers_, options.rows_by_argument, options.counters)
{
	for (const auto &[stream, end_time] : input.streams)
		add_stream(stream);
}

void Tracker::add_stream(const trace::StreamInfo &stream)
{
	const std::size_t count = std::max<std::size_t>(merged_.size(), stream.index + std::size_t{1});
	merged_.resize(count);
	in_gap_.resize(count);
	merged_[stream.index] =
	    std::ranges::any_of(merged_streams, [&](const char *name) { return stream.name.starts_with(name); });
}

void Tracker::system_call(const Thread &thread, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
			  std::int64_t result)
{
	for (activities::Observer *observer : observers_)
		observer->finished({ActivitySource::system_call, thread, begin, end, number, result});
}

void Tracker::refused_call(const Thread &thread, std::uint32_t call, std::uint64_t end, std::int64_t result)
{
	for (activities::Observer *observer : observers_)
		observer->finished({ActivitySource::system_call, thread, end, end, call, result, {}, true});
}

void Tracker::blocked(const Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker)
{
	for (activities::Observer *observer : observers_)
		observer->finished({ActivitySource::blocked, thread, from, to, thread.syscall, 0, waker});
	if (with_transfers_)
		woken_.insert_or_assign(&thread, Woken{thread.syscall, waker, to});
}

void Tracker::got_cpu(const Thread &thread, std::uint64_t from, std::uint64_t to)
{
	const auto found = woken_.find(&thread);
	if (found == woken_.end())
		return;
	const Woken woken = found->second;
	woken_.erase(found);
	if (woken.time != from) // a loss was in between
		return;
	analyze::Summed summed;
	summed.transfers = 1;
	summed.transfer_total = summed.transfer_longest = to - from;
	for (activities::Observer *observer : observers_)
		observer->summed({ActivitySource::blocked, thread, 0, 0, woken.call, 0, woken.waker}, summed);
}

void Tracker::system_calls(const Thread &thread, std::uint32_t number, const analyze::Summed &summed)
{
	for (activities::Observer *observer : observers_)
		observer->summed({ActivitySource::system_call, thread, 0, 0, number}, summed);
}

void Tracker::sleeps(const Thread &thread, std::uint32_t call, const analyze::Waker &waker,
		     const analyze::Summed &summed)
{
	for (activities::Observer *observer : observers_)
		observer->summed({ActivitySource::blocked, thread, 0, 0, call, 0, waker}, summed);
}

void Tracker::activities(const Thread &thread, std::uint32_t activity, std::uint32_t caller,
			 const analyze::Summed &summed)
{
	Finished all{ActivitySource::program, thread, 0, 0, names_.number_with(activity)};
	all.caller = names_.number_with(caller);
	for (activities::Observer *observer : observers_)
		observer->summed(all, summed);
}

Tracker::Owned &Tracker::stack_of(const Thread &thread, std::uint32_t owner)
{
	Owned &stack = stacks_[&thread];
	if (stack.owner != owner) {
		open_.forget(stack, thread);
		unlist(stack);
		stack.owner = owner;
	}
	if (!stack.listed) {
		std::vector<const Thread *> &open = by_owner_[owner];
		stack.index = open.size();
		stack.listed = true;
		open.push_back(&thread);
	}
	return stack;
}

void Tracker::unlist(Owned &stack)
{
	if (!std::exchange(stack.listed, false))
		return;
	const auto found = by_owner_.find(stack.owner);
	std::vector<const Thread *> &open = found->second;
	const Thread *const last = open.back();
	open[stack.index] = last;
	stacks_.at(last).index = stack.index;
	open.pop_back();
	if (open.empty())
		by_owner_.erase(found);
}

void Tracker::user_event(const Thread &thread, const trace::Event &event)
{
	if (event.time < latest_) // of a running recording: too late, and counted as such
		return;
	latest_ = event.time;
	const std::uint32_t owner = merged_[event.stream->index] ? many_processes : event.packet_process();
	// The loss is over. Other streams of this owner may lack events of the same threads, too.
	if (in_gap_[event.stream->index]) {
		in_gap_[event.stream->index] = false;
		forget_owner(owner);
	}
	const Role &role = names_.role_of(*event.cls);
	if (names_.is_boundary(*event.cls)) {
		std::vector<std::uint64_t> &boundary = stack_of(thread, owner).boundary;
		boundary.clear();
		for (const trace::FieldRef &field : names_.boundary_fields())
			boundary.push_back(field.get(event));
		return;
	}
	if (role.is_function)
		return function(thread, {role.begins, event.time, role.argument.get<std::uint32_t>(event),
					 role.stack_pointer.get(event)});
	if (role.activity == no_activity) {
		if (const auto found = stacks_.find(&thread); found != stacks_.end())
			found->second.boundary.clear(); // these counters belonged to another event
		return;
	}
	Owned &stack = stack_of(thread, owner);
	if (role.begins)
		open_.begin(role, stack, thread, event);
	else
		open_.end(role, stack, thread, event);
	stack.boundary.clear();
}

void Tracker::function(const Thread &thread, const analyze::FunctionToken &token)
{
	if (const std::uint32_t activity = names_.function(token.number); activity != no_activity)
		open_.function(activity, calls_[&thread], thread, token);
}

void Tracker::user_gap(const trace::StreamInfo &stream, std::uint32_t process)
{
	in_gap_[stream.index] = true;
	const std::uint32_t owner = merged_[stream.index] ? many_processes : process;
	if (owner == unknown_process)
		forget_all();
	else
		forget_owner(owner);
}

void Tracker::ended(const Thread &thread, std::uint64_t time)
{
	constexpr std::uint64_t above_all = ~std::uint64_t(0);
	if (const auto found = calls_.find(&thread); found != calls_.end())
		open_.leave_below(found->second, thread, above_all, time);
}

void Tracker::forgotten(const Thread &thread)
{
	woken_.erase(&thread);
	for (auto &[other, woken] : woken_)
		if (woken.waker.thread == &thread)
			woken.waker.thread = nullptr;
	if (const auto found = stacks_.find(&thread); found != stacks_.end()) {
		open_.forget(found->second, thread);
		unlist(found->second);
		stacks_.erase(found);
	}
	if (const auto found = calls_.find(&thread); found != calls_.end()) {
		open_.forget(found->second, thread);
		calls_.erase(found);
	}
}

void Tracker::forget_owner(std::uint32_t owner)
{
	const auto found = by_owner_.find(owner);
	if (found == by_owner_.end())
		return;
	for (const Thread *thread : found->second)
		if (Owned &stack = stacks_[thread]; stack.owner == owner) {
			open_.forget(stack, *thread);
			stack.listed = false;
		}
	by_owner_.erase(found);
}

void Tracker::forget_all()
{
	while (!by_owner_.empty())
		forget_owner(by_owner_.begin()->first);
}

Tracker::Ends Tracker::open_of(const Thread &thread) const
{
	const auto found = stacks_.find(&thread);
	return found == stacks_.end() ? Ends() : open_.ends_of(found->second);
}

void Tracker::finish()
{
	forget_all();
	for (auto &[thread, stack] : calls_)
		open_.forget(stack, *thread);
	open_.finish();
}

} // namespace monitor::activities
