// SPDX-License-Identifier: MIT
#include "open_activities.h"

#include <algorithm>

namespace monitor::activities {
namespace {

using analyze::Thread;

Span now(const Thread &thread, std::uint64_t time)
{
	return {time, thread.so_far.cpu, thread.so_far.waiting, thread.so_far.blocked};
}

// What a thread used between two moments. The fold may learn late which thread ran: then a part includes time from
// before the start, and is cut.
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

OpenActivities::OpenActivities(const ActivityNames &names, const analyze::ThreadFold &fold,
			       const std::vector<Observer *> &observers, bool rows_by_argument,
			       const analyze::CounterFold *counters)
    : names_(names), fold_(fold), observers_(observers), rows_by_argument_(rows_by_argument), counters_(counters)
{
}

Argument OpenActivities::argument_of(const Role &role, const trace::Event &event)
{
	Argument argument;
	argument.number = edc_token_arg(load<std::uint64_t>(event.data));
	argument.has_value = static_cast<bool>(role.argument);
	argument.is_hex = role.base == 16;
	argument.label = role.argument.label(event);
	argument.is_signed = role.kind == trace::FieldKind::signed_integer;
	if (argument.is_signed)
		argument.signed_number = role.argument.get<std::int64_t>(event);
	return argument;
}

void OpenActivities::leave(std::size_t index, Stack &stack, const Thread &thread, std::uint64_t time)
{
	const Frame &frame = stack.frames[index];
	if (names_.is_left_out(frame.activity, time)) // its exit was no longer recorded
		return forget_at(index, stack, thread);
	if (stack.left.size() >= max_depth)
		stack.left.clear();
	stack.left.insert_or_assign(frame.stack_pointer, frame.activity);
	end_at(index, stack, thread, time, true);
}

void OpenActivities::leave_below(Stack &stack, const Thread &thread, std::uint64_t stack_pointer, std::uint64_t time)
{
	if (!stack.frames.empty() && stack.frames.front().at_begin.ticks <= fold_.lossy_until())
		forget(stack, thread); // exits may have been lost
	while (!stack.frames.empty() && stack.frames.back().stack_pointer < stack_pointer)
		leave(stack.frames.size() - 1, stack, thread, time);
}

// If the thread has several stacks, only a function whose stack position is reused is known to have ended.
void OpenActivities::leave_at(Stack &stack, const Thread &thread, std::uint64_t stack_pointer, std::uint64_t time)
{
	for (std::size_t i = stack.frames.size(); i-- > 0;)
		if (stack.frames[i].stack_pointer == stack_pointer)
			leave(i, stack, thread, time);
}

// A tail-called function has the stack pointer of the function that jumped to it.
void OpenActivities::function(std::uint32_t activity, Stack &stack, const Thread &thread,
			      const analyze::FunctionToken &token)
{
	leave_below(stack, thread, stack.has_many ? 0 : token.stack_pointer + token.is_entry, token.time);
	if (stack.has_many && token.is_entry)
		leave_at(stack, thread, token.stack_pointer, token.time);
	const bool left_out = names_.is_left_out(activity, token.time); // its probes are removed one by one
	if (token.is_entry) {
		stack.left.erase(token.stack_pointer);
		if (left_out)
			return;
		if (!ensure_space(stack, thread)) {
			unpaired_.begins += fold_.is_counting();
			return;
		}
		Frame &frame = open(activity, stack, thread, token.time);
		frame.stack_pointer = token.stack_pointer;
		count_from_here(frame, stack, thread);
		return;
	}
	for (std::size_t i = stack.frames.size(); i-- > 0;)
		if (const Frame &frame = stack.frames[i];
		    frame.activity == activity && frame.stack_pointer == token.stack_pointer)
			return end_at(i, stack, thread, token.time);
	unpaired_.ends += fold_.is_counting() && !left_out;
	const auto left = stack.left.find(token.stack_pointer);
	if (left == stack.left.end() || left->second != activity)
		return;
	resumed_ += fold_.is_counting();
	stack.has_many = true;
	stack.left.erase(left);
}

bool OpenActivities::are_one_row(const Frame &one, const Frame &other) const
{
	return one.activity == other.activity && (!rows_by_argument_ || one.argument.number == other.argument.number);
}

// The innermost activity of the same row that was open before the one at `index`; null if there is none.
OpenActivities::Frame *OpenActivities::around(Stack &stack, std::size_t index) const
{
	for (std::size_t i = index; i-- > 0;)
		if (are_one_row(stack.frames[i], stack.frames[index]))
			return &stack.frames[i];
	return nullptr;
}

OpenActivities::Frame &OpenActivities::open(std::uint32_t activity, Stack &stack, const Thread &thread,
					    std::uint64_t time)
{
	Frame &frame = stack.frames.emplace_back();
	++frames_;
	frame.activity = activity;
	frame.at_begin = frame.alone = now(thread, time);
	frame.apart = time;
	return frame;
}

void OpenActivities::count_from_here(Frame &frame, Stack &stack, const Thread &thread)
{
	const auto index = static_cast<std::size_t>(&frame - stack.frames.data());
	if (!counters_ || around(stack, index))
		return;
	frame.counted_at_begin = counters_->so_far(thread);
	frame.boundary = stack.boundary;
}

// In an event loop with more open activities than are kept, the oldest is the one without an end.
bool OpenActivities::ensure_space(Stack &stack, const Thread &thread)
{
	if (stack.too_deep || frames_ >= max_open)
		return false;
	if (stack.frames.size() < max_depth)
		return true;
	const auto oldest = std::ranges::find_if(stack.frames, &Frame::overlaps);
	if (oldest == stack.frames.end())
		return false;
	forget_at(static_cast<std::size_t>(oldest - stack.frames.begin()), stack, thread);
	return true;
}

void OpenActivities::begin(const Role &role, Stack &stack, const Thread &thread, const trace::Event &event)
{
	const Argument argument = argument_of(role, event);
	const auto replaced = std::ranges::find_if(stack.frames, [&](const Frame &frame) {
		return frame.overlaps && frame.activity == role.activity && frame.argument.number == argument.number;
	});
	if (replaced != stack.frames.end()) // the activity around it has ended and starts again: its end is missing
		forget_at(static_cast<std::size_t>(replaced - stack.frames.begin()), stack, thread);
	if (!ensure_space(stack, thread)) {
		++stack.too_deep;
		unpaired_.begins += fold_.is_counting();
		return;
	}
	Frame &frame = open(role.activity, stack, thread, event.time);
	frame.argument = argument;
	count_from_here(frame, stack, thread);
}

// An argument of 0 may mean that the end has none, unless the activity is known to be interleaved.
std::optional<OpenActivities::Choice> OpenActivities::choose(const Role &role, const Stack &stack,
							     const trace::Event &event) const
{
	const Argument argument = argument_of(role, event);
	const std::uint32_t number = argument.has_value ? argument.number : 0;
	std::size_t open = 0, equal = 0, innermost = 0, match = 0;
	for (std::size_t i = stack.frames.size(); i-- > 0;) {
		const Frame &frame = stack.frames[i];
		if (frame.activity != role.activity)
			continue;
		if (open++ == 0)
			innermost = i;
		if (argument.has_value && frame.argument.has_value && frame.argument.number == number && equal++ == 0)
			match = i;
	}
	if (equal && (number || !stack.too_deep))
		return Choice{match, true, equal == 1};
	if (stack.too_deep || open == 0 || interleaved_.contains(role.activity))
		return {};
	return Choice{innermost, false, open == 1 && (number == 0 || stack.frames[innermost].argument.number == 0)};
}

void OpenActivities::end(const Role &role, Stack &stack, const Thread &thread, const trace::Event &event)
{
	const std::optional<Choice> choice = choose(role, stack, event);
	if (!choice) {
		stack.too_deep -= stack.too_deep != 0;
		unpaired_.ends += fold_.is_counting();
		return;
	}
	const Argument &its = stack.frames[choice->index].argument;
	const auto is_meant = [&](const Argument &one) { return !choice->by_argument || one.number == its.number; };
	for (std::size_t i = stack.frames.size(); --i > choice->index;)
		if (const Argument &later = stack.frames[i].argument; !later.has_value || is_meant(later))
			forget_at(i, stack, thread);
	if (!choice->is_certain)
		for (Frame &frame : stack.frames)
			if (frame.activity == role.activity && is_meant(frame.argument))
				frame.is_certain = false;
	if (choice->by_argument && stack.frames[choice->index].overlaps)
		interleaved_.insert(role.activity);
	end_at(choice->index, stack, thread, event.time);
}

void OpenActivities::end_at(std::size_t index, Stack &stack, const Thread &thread, std::uint64_t time, bool was_left)
{
	const Frame &frame = stack.frames[index];
	Finished activity{ActivitySource::program, thread, frame.at_begin.ticks, time, frame.activity};
	activity.span = between(frame.at_begin, now(thread, time));
	activity.exclusive = activity.span.ticks - std::min(frame.inside, activity.span.ticks);
	activity.argument = &frame.argument;
	activity.alone_from = frame.alone.ticks;
	activity.overlaps = frame.overlaps;
	activity.is_certain = frame.is_certain;
	activity.was_left = was_left;
	if (index > 0) {
		Frame &caller = stack.frames[index - 1];
		caller.inside += time - frame.apart;
		activity.caller = caller.activity;
	}
	const Span alone = between(frame.alone, now(thread, time));
	Frame *const outer = around(stack, index);
	activity.is_nested = outer != nullptr;
	if (outer) // counted in this row instead
		outer->nested += alone;
	activity.inclusive = alone;
	activity.inclusive -= frame.nested;
	for (std::size_t i = index + 1; i < stack.frames.size(); ++i)
		if (are_one_row(stack.frames[i], frame))
			activity.inclusive -= stack.frames[i].nested;
	if (fold_.is_counting())
		notify_observers(activity, frame, stack);
	outlive(index, stack, thread, time);
	stack.frames.erase(stack.frames.begin() + static_cast<std::ptrdiff_t>(index));
	--frames_;
}

void OpenActivities::notify_observers(Finished &activity, const Frame &frame, const Stack &stack)
{
	analyze::CounterSums counted;
	std::vector<std::uint64_t> at_boundaries;
	if (counters_ && !activity.is_nested) {
		counted = counters_->so_far(activity.thread);
		counted -= frame.counted_at_begin;
		activity.counted = &counted;
		at_boundaries = counted_between(frame.boundary, stack.boundary);
		activity.counted_at_boundaries = at_boundaries.empty() ? nullptr : &at_boundaries;
	}
	for (Observer *observer : observers_)
		observer->finished(activity);
}

// Activities started after the one that ends stay open: their time until here is counted with that one.
void OpenActivities::outlive(std::size_t index, Stack &stack, const Thread &thread, std::uint64_t time)
{
	const Frame &ended = stack.frames[index];
	for (std::size_t i = index + 1; i < stack.frames.size(); ++i) {
		Frame &frame = stack.frames[i];
		frame.overlaps = true;
		frame.apart = time;
		if (!are_one_row(frame, ended))
			continue;
		frame.alone = now(thread, time);
		frame.nested = {};
		if (counters_) {
			frame.counted_at_begin = counters_->so_far(thread);
			frame.boundary = stack.boundary;
		}
	}
}

// Programs are not trusted: counters that decrease are ignored. Empty: unknown.
std::vector<std::uint64_t> OpenActivities::counted_between(const std::vector<std::uint64_t> &begin,
							   const std::vector<std::uint64_t> &end) const
{
	const std::size_t count = names_.boundary_fields().size();
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

// The end of an activity will never be known.
void OpenActivities::forget_at(std::size_t index, Stack &stack, const Thread &thread)
{
	const Frame &frame = stack.frames[index];
	unpaired_.begins += fold_.is_counting();
	if (index > 0)
		stack.frames[index - 1].inside += frame.inside;
	if (Frame *const outer = around(stack, index)) {
		outer->nested += frame.nested;
	} else if (const auto is_its_row = [&](const Frame &later) { return are_one_row(later, frame); };
		   frame.nested.ticks && std::none_of(stack.frames.begin() + static_cast<std::ptrdiff_t>(index) + 1,
						      stack.frames.end(), is_its_row)) {
		Finished inner{ActivitySource::program, thread, 0, 0, frame.activity};
		inner.span = frame.nested;
		inner.argument = &frame.argument;
		for (Observer *observer : observers_)
			observer->not_nested(inner);
	}
	stack.frames.erase(stack.frames.begin() + static_cast<std::ptrdiff_t>(index));
	--frames_;
}

void OpenActivities::forget(Stack &stack, const Thread &thread)
{
	while (!stack.frames.empty())
		forget_at(stack.frames.size() - 1, stack, thread);
	stack.too_deep = 0;
	stack.boundary.clear();
	stack.left.clear();
}

OpenActivities::Ends OpenActivities::ends_of(const Stack &stack) const
{
	Ends ends;
	for (const Frame &frame : stack.frames) {
		if (frame.overlaps && !interleaved_.contains(frame.activity))
			continue; // the activity around it has ended, so it has, too, without an end event
		if (ends.outermost == no_activity)
			ends.outermost = frame.activity;
		ends.innermost = frame.activity;
	}
	return ends;
}

void OpenActivities::finish()
{
	const analyze::Periods &periods = fold_.periods();
	unpaired_.begins += periods.unpaired_begins + periods.open;
	unpaired_.ends += periods.unpaired_ends;
}

} // namespace monitor::activities
