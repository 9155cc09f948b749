// SPDX-License-Identifier: MIT
#include "profile.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/escape.h"

namespace monitor::exporting {
namespace {

std::string waker_text(const analyze::Machine &machine, const analyze::Thread *waker, std::int32_t interrupt,
		       std::uint32_t number)
{
	if (interrupt >= 0)
		return fmt::format("[woken by {}]",
				   machine.kinds().interrupt_label(static_cast<std::uint32_t>(interrupt), number));
	return waker ? fmt::format("[woken by {}]", waker->name.empty() ? "?" : waker->name) : "[waker unknown]";
}

// Both are separators in the folded form.
std::string folded_frame(std::string text)
{
	std::ranges::replace(text, ';', ':');
	std::ranges::replace(text, '\n', ' ');
	return printable(text);
}

} // namespace

std::uint64_t Profile::total() const
{
	std::uint64_t sum = 0;
	for (const Stack &stack : stacks)
		sum += stack.value;
	return sum;
}

Profile profile_of(const report::CallTree &tree, const trace::Clock &clock, report::StackBy by, const std::string &name)
{
	Profile profile;
	profile.name = name;
	profile.is_time = report::is_time(by);
	std::map<symbols::Name, std::uint32_t> numbers;
	std::vector<std::uint32_t> path;
	const auto visit = [&](const auto &self, std::uint32_t number) -> void {
		const report::CallNode &node = tree.nodes()[number];
		const auto [found, is_new] =
		    numbers.try_emplace(node.name, static_cast<std::uint32_t>(profile.frames.size()));
		if (is_new)
			profile.frames.push_back(tree.name(node));
		path.push_back(found->second);
		if (const std::uint64_t value = profile.is_time ? clock.to_ns(node.self) : node.self)
			profile.stacks.push_back({path, value});
		for (const std::uint32_t child : node.children)
			self(self, child);
		path.pop_back();
	};
	for (const std::uint32_t process : tree.nodes()[0].children)
		visit(visit, process);
	return profile;
}

void WaitFold::blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker)
{
	ticks_[{&thread, thread.syscall, waker.thread, waker.interrupt, waker.number}] += to - from;
}

Profile WaitFold::profile(const analyze::Machine &machine, const trace::Clock &clock) const
{
	Profile profile;
	profile.name = "offcpu";
	profile.is_time = true;
	std::map<std::vector<std::string>, std::uint64_t> sums; // sorted: the same from run to run
	const std::unordered_set<const analyze::Thread *> ran = machine.that_ran();
	for (const auto &[key, ticks] : ticks_) {
		if (!ran.contains(key.thread))
			continue;
		const std::string &process = machine.leader(*key.thread).name;
		std::vector<std::string> path = {process.empty() ? "?" : process};
		if (!key.thread->name.empty() && key.thread->name != process)
			path.push_back(key.thread->name);
		path.push_back(key.call == EDC_NO_SYSCALL ? "[in no system call]"
							  : machine.kinds().syscall_label(key.call));
		path.push_back(waker_text(machine, key.waker, key.interrupt, key.number));
		sums[std::move(path)] += ticks;
	}
	std::map<std::string, std::uint32_t> numbers;
	for (const auto &[path, ticks] : sums) {
		Profile::Stack stack{{}, clock.to_ns(ticks)};
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

void write_folded(const Profile &profile, Output &output)
{
	std::vector<std::string> frames;
	for (const symbols::FrameName &frame : profile.frames)
		frames.push_back(folded_frame(frame.text()));
	for (const Profile::Stack &stack : profile.stacks) {
		const std::uint64_t value = profile.is_time ? (stack.value + 500) / 1000 : stack.value;
		if (value == 0)
			continue;
		std::string line;
		for (const std::uint32_t frame : stack.frames)
			line += (line.empty() ? "" : ";") + frames[frame];
		output.append(fmt::format("{} {}\n", line, value));
	}
	output.finish();
}

} // namespace monitor::exporting
