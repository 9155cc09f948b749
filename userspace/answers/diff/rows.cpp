// SPDX-License-Identifier: MIT
#include "rows.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/scanner.h"

namespace monitor::diff {
namespace {

constexpr const char *woken_by_own = ", woken by its own";

constexpr auto always = [](const Measured &) { return true; };
constexpr auto had_brackets = [](const Measured &repetition) {
	return repetition.recorded.calls && repetition.recorded.faults;
};
constexpr auto had_interrupts = [](const Measured &repetition) { return repetition.recorded.interrupts; };
constexpr auto had_softirqs = [](const Measured &repetition) { return repetition.recorded.softirqs; };
constexpr auto had_calls = [](const Measured &repetition) { return repetition.recorded.calls; };
constexpr auto had_wakings = [](const Measured &repetition) { return repetition.recorded.wakings; };
constexpr auto had_throttled = [](const Measured &repetition) { return repetition.recorded.throttled; };
constexpr auto had_activities = [](const Measured &repetition) { return repetition.has_activities; };
constexpr auto had_samples = [](const Measured &repetition) { return repetition.has_samples; };
constexpr auto had_sleep_stacks = [](const Measured &repetition) { return repetition.has_sleep_stacks; };

struct ItemKind {
	RowKind kind;
	const char *what; // nullptr: its name says it
	bool (*was_recorded)(const Measured &);
};
// In the order of Item.
constexpr ItemKind items[] = {
    {RowKind::cpu, "user", had_brackets},
    {RowKind::cpu, "kernel", had_brackets},
    {RowKind::cpu, "page faults", had_brackets},
    {RowKind::cpu, "interrupts", had_interrupts},
    {RowKind::cpu, "softirqs", had_softirqs},
    {RowKind::cpu, "unattributed", always},
    {RowKind::cpu, "unknown", always},
    {RowKind::cpu, "all modes", always},
    {RowKind::calls, nullptr, had_calls},
    {RowKind::waits, "for a CPU", had_wakings},
    {RowKind::waits, "throttled", had_throttled},
    {RowKind::waits, "asleep", had_wakings},
    {RowKind::waits, "asleep", had_wakings},
    {RowKind::waits, "before it was started", had_wakings},
    {RowKind::activities, nullptr, had_activities},
    {RowKind::functions, nullptr, had_samples},
    {RowKind::stacks, nullptr, had_samples},
    {RowKind::sleeps, nullptr, had_sleep_stacks},
    {RowKind::sleeps, nullptr, had_sleep_stacks},
};
static_assert(std::size(items) == static_cast<std::size_t>(Item::sleep_stack_for_own) + 1);

const ItemKind &item_kind(Item item)
{
	return items[static_cast<std::size_t>(item)];
}

} // namespace

const char *name_of(RowKind kind)
{
	constexpr const char *names[kinds] = {"cpu", "calls", "waits", "activities", "functions", "stacks", "sleeps"};
	return names[static_cast<std::size_t>(kind)];
}

RowKind kind_of(Item item)
{
	return item_kind(item).kind;
}

bool is_counted(Item item)
{
	const RowKind kind = kind_of(item);
	return kind != RowKind::cpu && kind != RowKind::sleeps && item != Item::ready && item != Item::throttled;
}

std::string RowKey::what() const
{
	const bool is_in_call = (item == Item::asleep || item == Item::asleep_for_own) && !name.empty();
	const char *const fixed = item_kind(item).what;
	const std::string text = is_in_call ? "in " + name : fixed ? fixed : shown_name();
	return item == Item::asleep_for_own || item == Item::sleep_stack_for_own ? text + woken_by_own : text;
}

// The program's innermost frame, and the kernel's last one, which shows what it waits for: those in between are the
// call's.
std::string RowKey::short_what() const
{
	constexpr std::size_t max_shown = 5;
	const RowKind kind = kind_of(item);
	if (kind != RowKind::stacks && kind != RowKind::sleeps)
		return what();
	std::vector<std::string_view> frames;
	for (std::string_view rest = shown_name(); !rest.empty();)
		frames.push_back(take_until(rest, ';'));
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
	if (!is_whole || !item_kind(key.item).was_recorded(*this) || hidden_commands.contains(key.command))
		return nullptr;
	return is_counted(key.item) ? &no_times : &no_time;
}

} // namespace monitor::diff
