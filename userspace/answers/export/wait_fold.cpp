// SPDX-License-Identifier: MIT
#include "wait_fold.h"

#include <fmt/format.h>

namespace monitor::exporting {
namespace {

std::string waker_text(const analyze::ThreadFold &fold, const analyze::Thread *waker, std::int32_t interrupt,
		       std::uint32_t number)
{
	if (interrupt >= 0)
		return fmt::format("[woken by {}]",
				   fold.kinds().interrupt_label(static_cast<std::uint32_t>(interrupt), number));
	return waker ? fmt::format("[woken by {}]", waker->name.empty() ? "?" : waker->name) : "[waker unknown]";
}

} // namespace

void WaitFold::blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker)
{
	ticks_[{&thread, thread.syscall, waker.thread, waker.interrupt, waker.number}] += to - from;
}

report::Profile WaitFold::profile(const analyze::ThreadFold &fold, const trace::Clock &clock) const
{
	report::Profile profile;
	profile.name = "offcpu";
	profile.is_time = true;
	std::map<std::vector<std::string>, std::uint64_t> sums; // sorted, for the same output in each run
	const std::unordered_set<const analyze::Thread *> ran = fold.scheduled_threads();
	for (const auto &[key, ticks] : ticks_) {
		if (!ran.contains(key.thread))
			continue;
		const std::string &process = fold.leader(*key.thread).name;
		std::vector<std::string> path = {process.empty() ? "?" : process};
		if (!key.thread->name.empty() && key.thread->name != process)
			path.push_back(key.thread->name);
		path.push_back(key.call == EDC_NO_SYSCALL ? "[in no system call]"
							  : fold.kinds().syscall_label(key.call));
		path.push_back(waker_text(fold, key.waker, key.interrupt, key.number));
		sums[std::move(path)] += ticks;
	}
	std::map<std::string, std::uint32_t> numbers;
	for (const auto &[path, ticks] : sums) {
		report::Profile::Stack stack{{}, clock.to_ns(ticks)};
		for (const std::string &name : path) {
			const auto [found, is_new] =
			    numbers.try_emplace(name, static_cast<std::uint32_t>(profile.frames.size()));
			if (is_new)
				profile.frames.push_back({name, "", "", false});
			stack.frames.push_back(found->second);
		}
		if (stack.value)
			profile.stacks.push_back(std::move(stack));
	}
	return profile;
}

} // namespace monitor::exporting
