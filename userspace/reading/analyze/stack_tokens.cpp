// SPDX-License-Identifier: MIT
#include "stack_tokens.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "monitor/stack.h"

namespace monitor::analyze {
namespace {

// By the name of the class; without one it is the timer.
StackSample::At stack_at(const std::string *name)
{
	if (!name || *name == "timer")
		return StackSample::At::timer;
	if (*name == "sched_switch")
		return StackSample::At::sched_switch;
	if (*name == "sched_waking")
		return StackSample::At::sched_waking;
	return name->starts_with("page_fault_") ? StackSample::At::fault : StackSample::At::other;
}

} // namespace

StackSample stack_sample(const EventKind &kind, const trace::Event &event)
{
	const std::string *name = kind.field[0].label(event);
	const StackSample::At at = stack_at(name);
	return {at,
		event.time,
		kind.field[2].get(event),
		kind.field[3].get(event),
		kind.field[4].get(event),
		false,
		at == StackSample::At::other ? name : nullptr};
}

void deliver_stack_frames(const EventKind &kind, const trace::Event &event, const std::vector<Observer *> &observers)
{
	std::array<std::uint64_t, 6> frames;
	for (std::size_t i = 0; i < frames.size(); ++i)
		frames[i] = kind.field[3 + i].get(event);
	const auto count = std::min<std::size_t>(kind.field[1].get(event), frames.size());
	for (Observer *observer : observers)
		observer->stack_frames(kind.field[2].get(event), kind.field[0].get<std::uint32_t>(event),
				       std::span(frames).first(count));
}

void deliver_stack_end(const EventKind &kind, const trace::Event &event, const std::vector<Observer *> &observers)
{
	const bool is_complete = kind.field[1].get(event) == EDC_STACK_COMPLETE;
	const std::string *label = kind.field[1].label(event);
	const std::string why = is_complete ? "" : label ? *label : "?";
	const std::uint32_t cpu = event.stream->has_cpu() ? event.cpu() : 0;
	for (Observer *observer : observers)
		observer->stack_end(cpu, kind.field[2].get(event), kind.field[0].get<std::uint32_t>(event), why);
}

void deliver_mapping(const EventKind &kind, const trace::Event &event, const std::vector<Observer *> &observers)
{
	const MappingToken token = {kind.field[0].get<std::uint32_t>(event),
				    kind.field[1].get<std::int32_t>(event),
				    kind.field[7].get<std::int32_t>(event),
				    kind.field[2].get<std::uint32_t>(event),
				    kind.field[3].get(event),
				    kind.field[4].get(event),
				    kind.field[5].get(event),
				    kind.field[6].get(event)};
	for (Observer *observer : observers)
		observer->mapping(token);
}

} // namespace monitor::analyze
