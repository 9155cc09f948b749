// SPDX-License-Identifier: MIT
#include "live_stacks.h"

namespace monitor::live {

LiveStacks::LiveStacks(const analyze::ThreadFold &fold, std::size_t stack_limit, std::size_t frame_limit)
    : fold_(fold), max_frames_(frame_limit)
{
	limit(stack_limit);
}

void LiveStacks::follow(std::int32_t process, std::int32_t thread)
{
	process_ = process;
	thread_ = thread;
}

bool LiveStacks::is_followed(const analyze::Thread &thread) const
{
	return process_ != 0 && thread.tgid == process_ && (thread_ == 0 || thread.tid == thread_);
}

void LiveStacks::stack_frames(std::uint64_t id, std::uint32_t first, std::span<const std::uint64_t> frames)
{
	incomplete_.insert(id);
	StackFold::stack_frames(id, first, frames);
}

void LiveStacks::stack_end(std::uint32_t cpu, std::uint64_t id, std::uint32_t frames, const std::string &why)
{
	StackFold::stack_end(cpu, id, frames, why);
	incomplete_.erase(id);
	Description &description = descriptions_[id];
	if (description.frames == 0) {
		description.frames = find(id)->frames.size() + 1;
		frames_ += description.frames;
	}
	if (frames_ > max_frames_) {
		drop_frames(id, description);
		++left_out_;
	}
	std::uint64_t &known = tables_[cpu][id & (EDC_STACK_KNOWN - 1)];
	if (known == id)
		return;
	++description.tables;
	if (const std::uint64_t before = std::exchange(known, id); before && --descriptions_[before].tables == 0)
		released_.push_back(before);
}

void LiveStacks::stack(const analyze::Thread &thread, const analyze::StackSample &sample)
{
	analyze::StackSample taken = sample;
	taken.is_counted = sample.is_counted && is_followed(thread);
	StackFold::stack(thread, taken);
}

void LiveStacks::blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
			 const analyze::Waker &waker)
{
	if (is_followed(thread))
		StackFold::blocked(thread, from, to, waker);
}

void LiveStacks::clock_read(std::uint64_t time, std::uint64_t monotonic_ns)
{
	StackFold::clock_read(time, monotonic_ns);
	if (on_clock_)
		on_clock_(time);
}

void LiveStacks::forgotten(const analyze::Thread &thread)
{
	StackFold::forgotten(thread);
	if (thread.tid == thread.tgid)
		ended_processes_.push_back({thread.tgid, fold_.window_end()});
}

void LiveStacks::drop_frames(std::uint64_t id, Description &description)
{
	drop(id);
	frames_ -= std::exchange(description.frames, 0);
}

void LiveStacks::drop_unused()
{
	for (const std::uint64_t id : std::exchange(incomplete_, {}))
		if (!descriptions_.contains(id))
			drop(id);
	if (released_.empty())
		return;
	std::unordered_set<std::uint64_t> slept_at;
	for (const auto &[thread, sample] : at_switch())
		slept_at.insert({sample.kernel, sample.user});
	std::erase_if(released_, [&](std::uint64_t id) {
		const auto description = descriptions_.find(id);
		if (description == descriptions_.end() || description->second.tables > 0)
			return true;
		if (slept_at.contains(id))
			return false;
		drop_frames(id, description->second);
		descriptions_.erase(description);
		return true;
	});
}

std::unique_ptr<StackWindow> LiveStacks::take_window()
{
	auto window = std::make_unique<StackWindow>();
	window->process = process_;
	window->thread = thread_;
	window->left_out = left_out_;
	std::unordered_map<const analyze::Thread *, const analyze::Thread *> copies;
	window->stacks = copy_of_window([&](const analyze::Thread &thread) {
		const analyze::Thread *&copy = copies[&thread];
		if (!copy) {
			copy = &window->threads.emplace_back(thread);
			window->commands[copy] = fold_.leader(thread).name;
		}
		return copy;
	});
	for (const auto &[key, value] : window->stacks.values())
		if (const auto interrupt = static_cast<std::uint32_t>(key.waker.interrupt); key.waker.interrupt >= 0)
			window->interrupts.try_emplace({interrupt, key.waker.number},
						       fold_.kinds().interrupt_label(interrupt, key.waker.number));
	begin_window();
	drop_unused();
	return window;
}

} // namespace monitor::live
