// SPDX-License-Identifier: MIT
#include "tracker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace monitor::activities {
namespace {

using analyze::Thread;

constexpr std::uint32_t unknown_process = ~0u; // as in Machine: the stream has not reported it yet
constexpr std::uint32_t many_processes = 0;    // no process has this number
// Prefixes that the recorder gives the names of streams of many processes.
constexpr const char *merged_streams[] = {"user_merged", "user_shared"};

Span now(const Thread &thread, std::uint64_t time)
{
	return {time, thread.so_far.cpu, thread.so_far.waiting, thread.so_far.blocked};
}

// What a thread used between two moments. The fold may learn late which thread ran: then a part includes time from
// before the begin, and is cut.
Span between(const Span &begin, const Span &end)
{
	Span span;
	span.ticks = end.ticks - begin.ticks;
	std::uint64_t left = span.ticks;
	const auto part = [&left](std::uint64_t from, std::uint64_t to) {
		const std::uint64_t ticks = std::min(left, to - std::min(from, to));
		left -= ticks;
		return ticks;
	};
	span.cpu = part(begin.cpu, end.cpu);
	span.waiting = part(begin.waiting, end.waiting);
	span.blocked = part(begin.blocked, end.blocked);
	return span;
}

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

Tracker::Tracker(const analyze::Source &source, const analyze::Machine &machine, Options options)
    : machine_(machine), options_(options), partial_(source.partial)
{
	for (const auto &[stream, end_time] : source.streams)
		add_stream(stream);
	find_names(source.description);
	find_functions(source.description);
	for (const analyze::FunctionLeftOut &left_out : source.functions_left_out)
		if (const auto name = functions_.find(static_cast<std::uint32_t>(left_out.function));
		    name != functions_.end())
			left_out_.emplace(name->second, left_out.time);
	if (options_.counters)
		find_boundaries(source.description);
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

Argument Tracker::argument_of(const Role &role, const trace::Event &event)
{
	Argument argument;
	argument.number = edc_token_arg(trace::load<std::uint64_t>(event.data));
	argument.is_there = static_cast<bool>(role.argument);
	argument.is_hex = role.base == 16;
	argument.label = role.argument.label(event);
	argument.is_signed = role.kind == trace::FieldKind::signed_integer;
	if (argument.is_signed)
		argument.signed_number = role.argument.get<std::int64_t>(event);
	return argument;
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
		end(role, stack, thread, event.time);
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

bool Tracker::is_left_out(std::uint32_t activity, std::uint64_t time) const
{
	const auto found = left_out_.find(activity);
	return found != left_out_.end() && time >= found->second;
}

// Ends what was left without an exit: its frame would lie below the stack pointer.
void Tracker::leave_below(Stack &stack, const Thread &thread, std::uint64_t stack_pointer, std::uint64_t time)
{
	if (!stack.frames.empty() && stack.frames.front().at_begin.ticks <= machine_.lossy_until())
		forget(stack, thread); // exits may have been lost
	while (!stack.frames.empty() && stack.frames.back().stack_pointer < stack_pointer) {
		if (is_left_out(stack.frames.back().activity, time)) { // its exit was not recorded
			forget_top(stack, thread);
			continue;
		}
		pass_on(stack, thread, time, true);
		stack.frames.pop_back();
		--frames_;
	}
}

// A function that another one jumps to, instead of calling it, has the stack pointer of that one.
void Tracker::function(const Thread &thread, const analyze::FunctionToken &token)
{
	const auto known = functions_.find(token.number);
	if (known == functions_.end())
		return;
	Stack &stack = calls_[&thread];
	leave_below(stack, thread, token.stack_pointer + token.is_entry, token.time);
	const bool left_out = is_left_out(known->second, token.time); // its probes go one after the other
	if (token.is_entry) {
		if (left_out)
			return;
		if (stack.frames.size() >= max_depth || frames_ >= max_open) {
			unpaired_.begins += machine_.is_counting();
			return;
		}
		Frame &frame = stack.frames.emplace_back();
		++frames_;
		frame.activity = known->second;
		frame.at_begin = now(thread, token.time);
		frame.stack_pointer = token.stack_pointer;
		if (options_.counters && !around(stack))
			frame.counted_at_begin = options_.counters->so_far(thread);
		return;
	}
	if (stack.frames.empty() || stack.frames.back().activity != known->second ||
	    stack.frames.back().stack_pointer != token.stack_pointer) {
		unpaired_.ends += machine_.is_counting() && !left_out;
		return;
	}
	pass_on(stack, thread, token.time);
	stack.frames.pop_back();
	--frames_;
}

// The nearest activity around the innermost one that is in the same row; null if there is none.
Tracker::Frame *Tracker::around(Stack &stack) const
{
	const Frame &inner = stack.frames.back();
	const auto found = std::find_if(stack.frames.rbegin() + 1, stack.frames.rend(), [&](const Frame &outer) {
		return outer.activity == inner.activity &&
		       (!options_.rows_by_argument || outer.argument.number == inner.argument.number);
	});
	return found == stack.frames.rend() ? nullptr : &*found;
}

void Tracker::begin(const Role &role, Stack &stack, const Thread &thread, const trace::Event &event)
{
	if (stack.too_deep || stack.frames.size() >= max_depth || frames_ >= max_open) {
		++stack.too_deep;
		unpaired_.begins += machine_.is_counting();
		return;
	}
	Frame &frame = stack.frames.emplace_back();
	++frames_;
	frame.activity = role.activity;
	frame.argument = argument_of(role, event);
	frame.at_begin = now(thread, event.time);
	frame.boundary = stack.boundary;
	if (options_.counters && !around(stack))
		frame.counted_at_begin = options_.counters->so_far(thread);
}

void Tracker::end(const Role &role, Stack &stack, const Thread &thread, std::uint64_t time)
{
	const auto is_its_begin = [&](const Frame &frame) { return frame.activity == role.activity; };
	if (stack.too_deep || std::ranges::none_of(stack.frames, is_its_begin)) {
		stack.too_deep -= stack.too_deep != 0;
		unpaired_.ends += machine_.is_counting();
		return;
	}
	while (!is_its_begin(stack.frames.back()))
		forget_top(stack, thread);
	pass_on(stack, thread, time);
	stack.frames.pop_back();
	--frames_;
}

// The innermost activity has ended.
void Tracker::pass_on(Stack &stack, const Thread &thread, std::uint64_t time, bool was_left)
{
	const Frame &frame = stack.frames.back();
	Finished activity{Source::program, thread, frame.at_begin.ticks, time, frame.activity};
	activity.span = between(frame.at_begin, now(thread, time));
	activity.exclusive = activity.span.ticks - std::min(frame.inside, activity.span.ticks);
	activity.inclusive = activity.span;
	activity.inclusive -= frame.nested;
	activity.argument = &frame.argument;
	activity.was_left = was_left;
	if (stack.frames.size() > 1) {
		Frame &caller = stack.frames[stack.frames.size() - 2];
		caller.inside += activity.span.ticks;
		activity.caller = caller.activity;
	}
	Frame *const outer = around(stack);
	activity.is_nested = outer != nullptr;
	if (outer) // this time is counted here
		outer->nested += activity.span;
	if (!machine_.is_counting())
		return;
	analyze::CounterSums counted;
	std::vector<std::uint64_t> at_boundaries;
	if (options_.counters && !outer) {
		counted = options_.counters->so_far(thread);
		counted -= frame.counted_at_begin;
		activity.counted = &counted;
		at_boundaries = counted_between(frame.boundary, stack.boundary);
		activity.counted_at_boundaries = at_boundaries.empty() ? nullptr : &at_boundaries;
	}
	for (activities::Observer *observer : observers_)
		observer->finished(activity);
}

// Programs are not trusted: counters that decrease are ignored. Empty: unknown.
std::vector<std::uint64_t> Tracker::counted_between(const std::vector<std::uint64_t> &begin,
						    const std::vector<std::uint64_t> &end) const
{
	const std::size_t count = boundary_fields_.size();
	if (count == 0 || begin.size() != count || end.size() != count)
		return {};
	std::vector<std::uint64_t> counted(count);
	for (std::size_t i = 0; i < count; ++i) {
		if (end[i] < begin[i])
			return {};
		counted[i] = end[i] - begin[i];
	}
	return counted;
}

// The end of the innermost activity will never be known.
void Tracker::forget_top(Stack &stack, const Thread &thread)
{
	const Frame &frame = stack.frames.back();
	unpaired_.begins += machine_.is_counting();
	if (stack.frames.size() > 1)
		stack.frames[stack.frames.size() - 2].inside += frame.inside;
	if (Frame *const outer = around(stack)) {
		outer->nested += frame.nested;
	} else if (frame.nested.ticks) {
		Finished inner{Source::program, thread, 0, 0, frame.activity};
		inner.span = frame.nested;
		inner.argument = &frame.argument;
		for (activities::Observer *observer : observers_)
			observer->not_nested(inner);
	}
	stack.frames.pop_back();
	--frames_;
}

void Tracker::forget(Stack &stack, const Thread &thread)
{
	while (!stack.frames.empty())
		forget_top(stack, thread);
	stack.too_deep = 0;
	stack.boundary.clear();
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
	if (found == stacks_.end() || found->second.frames.empty())
		return {};
	return {found->second.frames.front().activity, found->second.frames.back().activity};
}

void Tracker::finish()
{
	forget_all();
	for (auto &[thread, stack] : calls_)
		forget(stack, *thread);
	const analyze::Periods &periods = machine_.periods();
	unpaired_.begins += periods.unpaired_begins + periods.open;
	unpaired_.ends += periods.unpaired_ends;
}

} // namespace monitor::activities
