// SPDX-License-Identifier: MIT
#include "stacks.h"

#include <algorithm>

#include "monitor/stack.h"

namespace monitor::analyze {

std::size_t StackFold::Hash::operator()(const StackKey &key) const
{
	std::uint64_t hash = reinterpret_cast<std::uintptr_t>(key.thread);
	for (const std::uint64_t word :
	     {static_cast<std::uint64_t>(key.at),
	      static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key.event)), key.address, key.kernel,
	      key.user, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key.waker.thread)),
	      static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.waker.interrupt)) << 32 | key.waker.number,
	      key.woken_at.kernel, key.woken_at.user})
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

void StackFold::stack_end(std::uint32_t, std::uint64_t id, std::uint32_t frames, const std::string &why)
{
	StackDescription &stack = stacks_[id];
	stack.frames.resize(std::min<std::size_t>(frames, EDC_STACK_FRAMES));
	stack.is_whole = std::ranges::find(stack.frames, std::uint64_t{0}) == stack.frames.end();
	stack.why_ended = why;
}

void StackFold::stack(const Thread &thread, const StackSample &sample)
{
	if (!any_)
		first_ = sample.time;
	any_ = true;
	if (sample.at == StackSample::At::sched_switch)
		at_switch_[&thread] = sample;
	if (sample.at == StackSample::At::sched_waking)
		attribute_sleep(thread, sample);
	if (!sample.is_counted || thread.tid == 0)
		return;
	if (sample.at == StackSample::At::other || sample.at == StackSample::At::sched_waking)
		others_.insert(sample.event);
	++value_of({{sample.address, sample.kernel, sample.user}, &thread, sample.at, sample.event}, sample.time).count;
}

StackFold::Value &StackFold::value_of(const StackKey &key, std::uint64_t time)
{
	if (values_.size() >= max_stacks_ && !values_.contains(key) && key.user != no_room) {
		StackKey rest;
		rest.user = no_room;
		rest.thread = key.thread;
		rest.at = key.at;
		rest.event = key.event;
		return value_of(rest, time);
	}
	const auto [found, is_new] = values_.try_emplace(key);
	if (is_new)
		found->second.time = time;
	return found->second;
}

// This stack is the waker's: the sleep that ended at this moment gets it into its key.
void StackFold::attribute_sleep(const Thread &ran, const StackSample &sample)
{
	const auto found = std::ranges::find_if(ended_, [&](const Ended &one) {
		return one.time == sample.time && (!one.key.waker.thread || one.key.waker.thread == &ran);
	});
	if (found == ended_.end())
		return;
	has_wakers_ = true;
	Ended ended = *found;
	ended_.erase(found);
	const auto known = values_.find(ended.key);
	if (known == values_.end())
		return; // the table is full
	const std::uint64_t first = known->second.time;
	known->second.blocked -= ended.blocked;
	ended.key.waker_ran = &ran;
	ended.key.woken_at = {sample.address, sample.kernel, sample.user};
	Value &value = value_of(ended.key, first);
	value.blocked += ended.blocked;
	value.woken = sample.time;
}

void StackFold::blocked(const Thread &thread, std::uint64_t from, std::uint64_t to, const Waker &waker)
{
	StackKey key{{}, &thread, StackSample::At::sched_switch, nullptr, waker};
	const auto at_sleep = at_switch_.find(&thread);
	if (at_sleep != at_switch_.end() && at_sleep->second.time == from) {
		key.address = at_sleep->second.address;
		key.kernel = at_sleep->second.kernel;
		key.user = at_sleep->second.user;
	} else if (from != thread.out_time || !any_ || from < first_) { // no switch was seen, or stacks began later
		key.user = since_before;
	}
	value_of(key, from).blocked += to - from;
	std::erase_if(ended_, [&](const Ended &one) { return one.time < to; });
	ended_.push_back({to, to - from, key});
}

void StackFold::clock_read(std::uint64_t time, std::uint64_t monotonic_ns)
{
	if (read_ns_)
		return;
	read_at_ = time;
	read_ns_ = monotonic_ns;
}

std::uint64_t StackFold::time_of(std::uint64_t monotonic_ns, const trace::Clock &clock) const
{
	if (monotonic_ns >= read_ns_)
		return read_at_ + clock.to_ticks(monotonic_ns - read_ns_);
	return read_at_ - std::min(read_at_, clock.to_ticks(read_ns_ - monotonic_ns));
}

void StackFold::begin_window()
{
	values_.clear();
	ended_.clear();
	others_.clear();
	has_wakers_ = false;
}

StackFold StackFold::copy_of_window(const std::function<const Thread *(const Thread &)> &copy_of) const
{
	StackFold copy;
	copy.any_ = any_;
	copy.has_wakers_ = has_wakers_;
	copy.others_ = others_;
	copy.first_ = first_;
	copy.read_at_ = read_at_;
	copy.read_ns_ = read_ns_;
	const auto copy_stacks = [&](const Ids &ids) {
		for (const std::uint64_t id : {ids.kernel, ids.user})
			if (const StackDescription *stack = id ? find(id) : nullptr)
				copy.stacks_.try_emplace(id, *stack);
	};
	for (const auto &[original, value] : values_) {
		StackKey key = original;
		for (const Thread **const thread : {&key.thread, &key.waker.thread, &key.waker_ran})
			if (*thread)
				*thread = copy_of(**thread);
		copy_stacks(key);
		copy_stacks(key.woken_at);
		copy.values_.emplace(key, value);
	}
	return copy;
}

const StackDescription *StackFold::find(std::uint64_t id) const
{
	const auto found = stacks_.find(id);
	return found == stacks_.end() ? nullptr : &found->second;
}

} // namespace monitor::analyze
