// SPDX-License-Identifier: MIT
#include "rows.h"

namespace monitor::diff {
namespace {

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
		return in.has_stacks;
	default:
		return true;
	}
}

} // namespace

const char *name_of(Kind kind)
{
	constexpr const char *names[kinds] = {"cpu", "calls", "waits", "activities", "stacks"};
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
		return Kind::stacks;
	default:
		return Kind::cpu;
	}
}

bool is_counted(Item item)
{
	return kind_of(item) != Kind::cpu && item != Item::ready;
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
		return (name.empty() ? "asleep" : "in " + name) + ", woken by its own";
	default:
		return name;
	}
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
