// SPDX-License-Identifier: MIT
#include "profile.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/escape.h"
#include "base/ranges.h"

namespace monitor::report {

std::uint64_t Profile::total() const
{
	return sum_of_all<std::uint64_t>(stacks, &Stack::value);
}

Profile profile_of(const CallTree &tree, const trace::Clock &clock, StackBy by, const std::string &name)
{
	Profile profile;
	profile.name = name;
	profile.is_time = is_time(by);
	std::map<symbols::Name, std::uint32_t> numbers;
	std::vector<std::uint32_t> path;
	const auto visit = [&](const auto &self, std::uint32_t number) -> void {
		const CallNode &node = tree.nodes()[number];
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

std::string folded_frame(std::string text)
{
	std::ranges::replace(text, ';', ':');
	std::ranges::replace(text, '\n', ' ');
	return printable(text);
}

std::string folded_text(const Profile &profile)
{
	const auto frames = list_of<std::string>(
	    profile.frames, [](const symbols::FrameName &frame) { return folded_frame(frame.text()); });
	std::string text;
	for (const Profile::Stack &stack : profile.stacks) {
		const std::uint64_t value = profile.is_time ? (stack.value + 500) / 1000 : stack.value;
		if (value == 0)
			continue;
		for (const std::uint32_t &frame : stack.frames)
			text += (&frame == stack.frames.data() ? "" : ";") + frames[frame];
		text += fmt::format(" {}\n", value);
	}
	return text;
}

} // namespace monitor::report
