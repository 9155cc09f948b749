// SPDX-License-Identifier: MIT
#include "stacks.h"

#include <algorithm>

#include "monitor/stack.h"

namespace monitor::analyze {

std::size_t StackFold::Hash::operator()(const Key &key) const
{
	std::uint64_t hash = reinterpret_cast<std::uintptr_t>(key.thread);
	for (const std::uint64_t word : {static_cast<std::uint64_t>(key.at), key.address, key.kernel, key.user})
		hash = (hash ^ word) * 0x9E3779B97F4A7C15ull ^ hash >> 29;
	return hash;
}

void StackFold::stack_frames(std::uint64_t id, std::uint32_t first, std::span<const std::uint64_t> frames)
{
	StackDescription &stack = stacks_[id];
	const std::size_t end = std::min<std::size_t>(first + frames.size(), EDC_STACK_FRAMES);
	if (stack.is_whole || first >= end)
		return;
	stack.frames.resize(std::max(stack.frames.size(), end));
	std::ranges::copy(frames.first(end - first), stack.frames.begin() + first);
}

void StackFold::stack_end(std::uint64_t id, std::uint32_t frames, const std::string &why)
{
	StackDescription &stack = stacks_[id];
	stack.frames.resize(std::min<std::size_t>(frames, EDC_STACK_FRAMES));
	stack.is_whole = std::ranges::find(stack.frames, std::uint64_t{0}) == stack.frames.end();
	stack.why_ended = why;
}

void StackFold::stack(const Thread &thread, const StackSample &sample)
{
	any_ = true;
	if (sample.at == StackSample::At::sched_switch)
		at_switch_[&thread] = sample;
	if (!sample.is_counted)
		return;
	Value &value = values_[{&thread, sample.at, sample.address, sample.kernel, sample.user}];
	if (value.count++ == 0)
		value.time = sample.time;
}

void StackFold::blocked(const Thread &thread, std::uint64_t from, std::uint64_t to, const Waker &)
{
	Key key{&thread, StackSample::At::sched_switch, 0, 0, 0};
	const auto taken = at_switch_.find(&thread);
	if (taken != at_switch_.end() && taken->second.time == from) {
		key.address = taken->second.address;
		key.kernel = taken->second.kernel;
		key.user = taken->second.user;
	} else if (from != thread.out_time) { // listed as asleep, or clipped: no switch was seen
		key.user = since_before;
	}
	Value &value = values_[key];
	if (value.time == 0)
		value.time = from;
	value.blocked += to - from;
}

const StackDescription *StackFold::find(std::uint64_t id) const
{
	const auto found = stacks_.find(id);
	return found == stacks_.end() ? nullptr : &found->second;
}

} // namespace monitor::analyze
