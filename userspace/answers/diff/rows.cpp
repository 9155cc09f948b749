// SPDX-License-Identifier: MIT
#include "rows.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace monitor::diff {
namespace {

constexpr const char *woken_by_own = ", woken by its own";

bool was_recorded(const Measured &in, Item item)
{
	switch (item) {
	case Item::user:
	case Item::kernel:
	case Item::faults:
		return in.recorded.calls && in.recorded.faults;
	case Item::irq:
		return in.recorded.interrupts;
	case Item::softirq:
		return in.recorded.softirqs;
	case Item::in_call:
		return in.recorded.calls;
	case Item::ready:
	case Item::asleep:
	case Item::asleep_for_own:
	case Item::before_start:
		return in.recorded.wakings;
	case Item::activity:
		return in.has_activities;
	case Item::function:
	case Item::stack:
		return in.has_samples;
	case Item::sleep_stack:
	case Item::sleep_stack_for_own:
		return in.has_sleep_stacks;
	default:
		return true;
	}
}

} // namespace

const char *name_of(Kind kind)
{
	constexpr const char *names[kinds] = {"cpu", "calls", "waits", "activities", "functions", "stacks", "sleeps"};
	return names[static_cast<std::size_t>(kind)];
}

Kind kind_of(Item item)
{
	switch (item) {
	case Item::in_call:
		return Kind::calls;
	case Item::ready:
	case Item::asleep:
	case Item::asleep_for_own:
	case Item::before_start:
		return Kind::waits;
	case Item::activity:
		return Kind::activities;
	case Item::function:
		return Kind::functions;
	case Item::stack:
		return Kind::stacks;
	case Item::sleep_stack:
	case Item::sleep_stack_for_own:
		return Kind::sleeps;
	default:
		return Kind::cpu;
	}
}

bool is_counted(Item item)
{
	const Kind kind = kind_of(item);
	return kind != Kind::cpu && kind != Kind::sleeps && item != Item::ready;
}

std::string RowKey::what() const
{
	switch (item) {
	case Item::user:
		return "user";
	case Item::kernel:
		return "kernel";
	case Item::faults:
		return "page faults";
	case Item::irq:
		return "interrupts";
	case Item::softirq:
		return "softirqs";
	case Item::unattributed:
		return "unattributed";
	case Item::unknown:
		return "unknown";
	case Item::cpu_time:
		return "all modes";
	case Item::ready:
		return "for a CPU";
	case Item::asleep:
		return name.empty() ? "asleep" : "in " + name;
	case Item::before_start:
		return "before it was started";
	case Item::asleep_for_own:
		return (name.empty() ? "asleep" : "in " + name) + woken_by_own;
	case Item::sleep_stack_for_own:
		return shown_name() + woken_by_own;
	default:
		return shown_name();
	}
}

// The innermost of the program's, and the kernel's last, which says what it waits for: the way there is the call's.
std::string RowKey::short_what() const
{
	constexpr std::size_t max_shown = 5;
	const Kind kind = kind_of(item);
	if (kind != Kind::stacks && kind != Kind::sleeps)
		return what();
	std::vector<std::string_view> frames;
	for (std::string_view rest = shown_name(); !rest.empty();) {
		const std::size_t end = std::min(rest.find(';'), rest.size());
		frames.push_back(rest.substr(0, end));
		rest.remove_prefix(std::min(end + 1, rest.size()));
	}
	const std::size_t in_program = program_frames > 0 ? program_frames : frames.size();
	const std::size_t first = in_program - std::min(in_program, max_shown);
	std::string text = first > 0 ? "..." : "";
	const auto add = [&](std::string_view frame) { text.append(text.empty() ? "" : ";").append(frame); };
	std::for_each(frames.begin() + first, frames.begin() + in_program, add);
	if (in_program + 1 < frames.size())
		add("...");
	if (in_program < frames.size())
		add(frames.back());
	return item == Item::sleep_stack_for_own ? text + woken_by_own : text;
}

const Amount *Measured::find(const RowKey &key) const
{
	static const Amount no_time, no_times{0, 0, false};
	if (const auto found = rows.find(key); found != rows.end())
		return &found->second;
	if (!is_whole || !was_recorded(*this, key.item) || hidden_commands.contains(key.command))
		return nullptr;
	return is_counted(key.item) ? &no_times : &no_time;
}

} // namespace monitor::diff
