// SPDX-License-Identifier: MIT
#include "tracker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace monitor::activities {
namespace {

using analyze::Thread;

constexpr std::uint32_t unknown_process = ~0u; // as in ThreadFold: the stream has not reported it yet
constexpr std::uint32_t many_processes = 0;    // no process has this number
// Prefixes that the recorder gives the names of streams of many processes.
constexpr const char *merged_streams[] = {"user_merged", "user_shared"};

} // namespace

Span &Span::operator-=(const Span &other)
{
	for (const auto &[from, less] : {std::pair(&ticks, other.ticks), std::pair(&cpu, other.cpu),
					 std::pair(&waiting, other.waiting), std::pair(&blocked, other.blocked)})
		*from -= std::min(*from, less);
	return *this;
}

Span &Span::operator+=(const Span &other)
{
	ticks += other.ticks;
	cpu += other.cpu;
	waiting += other.waiting;
	blocked += other.blocked;
	return *this;
}

Tracker::Tracker(const analyze::FoldInput &input, const analyze::ThreadFold &fold, Options options)
    : fold_(fold), options_(options), partial_(input.partial)
{
	for (const auto &[stream, end_time] : input.streams)
		add_stream(stream);
	find_names(input.description);
	find_functions(input.description);
	for (const analyze::FunctionLeftOut &left_out : input.functions_left_out)
		if (const auto name = functions_.find(static_cast<std::uint32_t>(left_out.function));
		    name != functions_.end())
			left_out_.emplace(name->second, left_out.time);
	if (options_.counters)
		find_boundaries(input.description);
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
		observer->finished({Source::system_call, thread, begin, end, number, result});
}

void Tracker::refused_call(const Thread &thread, std::uint32_t call, std::uint64_t end, std::int64_t result)
{
	for (activities::Observer *observer : observers_)
		observer->finished({Source::system_call, thread, end, end, call, result, {}, true});
}

void Tracker::blocked(const Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker)
{
	for (activities::Observer *observer : observers_)
		observer->finished({Source::blocked, thread, from, to, thread.syscall, 0, waker});
	if (options_.with_transfers)
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
		observer->summed({Source::blocked, thread, 0, 0, woken.call, 0, woken.waker}, summed);
}

void Tracker::system_calls(const Thread &thread, std::uint32_t number, const analyze::Summed &summed)
{
	for (activities::Observer *observer : observers_)
		observer->summed({Source::system_call, thread, 0, 0, number}, summed);
}

void Tracker::sleeps(const Thread &thread, std::uint32_t call, const analyze::Waker &waker,
		     const analyze::Summed &summed)
{
	for (activities::Observer *observer : observers_)
		observer->summed({Source::blocked, thread, 0, 0, call, 0, waker}, summed);
}

void Tracker::activities(const Thread &thread, std::uint32_t activity, std::uint32_t caller,
			 const analyze::Summed &summed)
{
	Finished all{Source::program, thread, 0, 0, number_with(activity)};
	all.caller = number_with(caller);
	for (activities::Observer *observer : observers_)
		observer->summed(all, summed);
}

std::string Argument::text() const
{
	if (label)
		return *label;
	return is_hex ? fmt::format("{:#x}", number) : is_signed ? fmt::format("{}", signed_number) : "";
}

Tracker::Stack &Tracker::stack_of(const Thread &thread, std::uint32_t owner)
{
	Stack &stack = stacks_[&thread];
	if (stack.owner != owner) {
		forget(stack, thread);
		unlist(stack);
		stack.owner = owner;
	}
	if (!stack.listed) {
		std::vector<const Thread *> &open = open_[owner];
		stack.place = open.size();
		stack.listed = true;
		open.push_back(&thread);
	}
	return stack;
}

void Tracker::unlist(Stack &stack)
{
	if (!std::exchange(stack.listed, false))
		return;
	const auto found = open_.find(stack.owner);
	std::vector<const Thread *> &open = found->second;
	const Thread *const last = open.back();
	open[stack.place] = last;
	stacks_.at(last).place = stack.place;
	open.pop_back();
	if (open.empty())
		open_.erase(found);
}

void Tracker::user_event(const Thread &thread, const trace::Event &event)
{
	if (event.time < latest_) // of a recording that goes on: too late, and counted as such
		return;
	latest_ = event.time;
	const std::uint32_t owner = merged_[event.stream->index] ? many_processes : event.packet_process();
	// The loss is over. What the owner's other streams reported during it may lack events of the same threads.
	if (in_gap_[event.stream->index]) {
		in_gap_[event.stream->index] = false;
		forget_owner(owner);
	}
	const Role &role = roles_[event.cls->index];
	if (event.cls->id == boundary_id_) {
		std::vector<std::uint64_t> &boundary = stack_of(thread, owner).boundary;
		boundary.clear();
		for (const trace::FieldRef &field : boundary_fields_)
			boundary.push_back(field.get(event));
		return;
	}
	if (role.is_function)
		return function(thread, {role.begins, event.time, role.argument.get<std::uint32_t>(event),
					 role.stack_pointer.get(event)});
	if (role.activity == none) {
		if (const auto found = stacks_.find(&thread); found != stacks_.end())
			found->second.boundary.clear(); // these counters were reported for another event
		return;
	}
	Stack &stack = stack_of(thread, owner);
	if (role.begins)
		begin(role, stack, thread, event);
	else
		end(role, stack, thread, event);
	stack.boundary.clear();
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

void Tracker::forget(Stack &stack, const Thread &thread)
{
	while (!stack.frames.empty())
		forget_at(stack.frames.size() - 1, stack, thread);
	stack.too_deep = 0;
	stack.boundary.clear();
	stack.left.clear();
}

void Tracker::ended(const Thread &thread, std::uint64_t time)
{
	constexpr std::uint64_t above_all = ~std::uint64_t(0);
	if (const auto found = calls_.find(&thread); found != calls_.end())
		leave_below(found->second, thread, above_all, time);
}

void Tracker::forgotten(const Thread &thread)
{
	woken_.erase(&thread);
	for (auto &[other, woken] : woken_)
		if (woken.waker.thread == &thread)
			woken.waker.thread = nullptr;
	if (const auto found = stacks_.find(&thread); found != stacks_.end()) {
		forget(found->second, thread);
		unlist(found->second);
		stacks_.erase(found);
	}
	if (const auto found = calls_.find(&thread); found != calls_.end()) {
		forget(found->second, thread);
		calls_.erase(found);
	}
}

void Tracker::forget_owner(std::uint32_t owner)
{
	const auto found = open_.find(owner);
	if (found == open_.end())
		return;
	for (const Thread *thread : found->second)
		if (Stack &stack = stacks_[thread]; stack.owner == owner) {
			forget(stack, *thread);
			stack.listed = false;
		}
	open_.erase(found);
}

void Tracker::forget_all()
{
	while (!open_.empty())
		forget_owner(open_.begin()->first);
}

Tracker::Open Tracker::open_of(const Thread &thread) const
{
	const auto found = stacks_.find(&thread);
	Open open;
	if (found == stacks_.end())
		return open;
	for (const Frame &frame : found->second.frames) {
		if (frame.overlaps && !interleaved_.contains(frame.activity))
			continue; // what it was inside of has ended: so has it, and its end is missing
		if (open.outermost == none)
			open.outermost = frame.activity;
		open.innermost = frame.activity;
	}
	return open;
}

void Tracker::finish()
{
	forget_all();
	for (auto &[thread, stack] : calls_)
		forget(stack, *thread);
	const analyze::Periods &periods = fold_.periods();
	unpaired_.begins += periods.unpaired_begins + periods.open;
	unpaired_.ends += periods.unpaired_ends;
}

} // namespace monitor::activities
