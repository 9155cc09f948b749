// SPDX-License-Identifier: MIT
#include "activities.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/data_files.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"

namespace monitor::analyze {
namespace {

const std::pair<const char *, Activity> activity_names[] = {{"system_call", Activity::system_call},
							    {"blocked", Activity::blocked}};
const std::pair<const char *, Label> label_names[] = {
    {"process", Label::process}, {"thread", Label::thread}, {"call", Label::call}, {"waker", Label::waker}};

template <class Value, std::size_t N>
Value named(const std::pair<const char *, Value> (&names)[N], const nlohmann::json &json, const std::string &path)
{
	const std::string name = json.is_string() ? json.get<std::string>() : json.dump();
	for (const auto &[known, value] : names)
		if (name == known)
			return value;
	throw Error(path + ": cannot fold by '" + name + "'");
}

// A waker is a process (by its leader), an interrupt (by kind and number), or 0 if unknown. Threads have even
// addresses, so interrupts are odd.
std::uint64_t waker_part(const Waker &waker, const Machine &machine)
{
	if (waker.interrupt >= 0)
		return (static_cast<std::uint64_t>(waker.interrupt) << 17 | static_cast<std::uint64_t>(waker.number)
										<< 1) |
		       1;
	return waker.thread ? reinterpret_cast<std::uintptr_t>(&machine.leader(*waker.thread)) : 0;
}

std::string name_and_id(const std::string &name, std::int32_t id)
{
	return fmt::format("{}-{}", name.empty() ? "?" : name, id);
}

} // namespace

ActivityTable load_table(const std::string &name)
{
	const std::string path = share_path("tables/" + name + ".json");
	const auto json = parse_json(read_text(path));
	if (!json.is_object() || !json.contains("activity") || !json.contains("by") || !json["by"].is_array())
		throw Error("the table " + path +
			    " is missing or is not an activity table; reinstall monitor or set MONITOR_SHARE");
	ActivityTable table;
	table.name = name;
	table.title = json.value("title", name);
	table.activity = named(activity_names, json["activity"], path);
	for (const auto &label : json["by"])
		table.by.push_back(named(label_names, label, path));
	if (table.by.size() > 4)
		throw Error(path + ": cannot fold by more than 4 labels");
	return table;
}

ActivityFold::Key ActivityFold::key_of(const Thread &thread, std::uint32_t call, const Waker &waker) const
{
	Key key{};
	std::size_t i = 0;
	for (Label label : table_.by) {
		switch (label) {
		case Label::process:
			key[i++] = reinterpret_cast<std::uintptr_t>(&machine_.leader(thread));
			break;
		case Label::thread:
			key[i++] = reinterpret_cast<std::uintptr_t>(&thread);
			break;
		case Label::call:
			key[i++] = call;
			break;
		case Label::waker:
			key[i++] = waker_part(waker, machine_);
			break;
		}
	}
	return key;
}

void ActivityFold::add(const Key &key, std::uint64_t ticks, bool error)
{
	Group &group = groups_[key];
	++group.count;
	group.errors += error;
	group.total += ticks;
	group.max = std::max(group.max, ticks);
	group.histogram.add(ticks);
}

void ActivityFold::system_call(const Thread &thread, std::uint32_t number, std::uint64_t ticks, std::int64_t result)
{
	if (table_.activity == Activity::system_call)
		add(key_of(thread, number, {}), ticks, result < 0 && result >= -4095);
}

void ActivityFold::blocked(const Thread &thread, std::uint64_t from, std::uint64_t to, const Waker &waker)
{
	if (table_.activity == Activity::blocked)
		add(key_of(thread, thread.syscall, waker), to - from, false);
}

std::string ActivityFold::waker_text(std::uint64_t part) const
{
	if (part == 0)
		return "-";
	if (!(part & 1)) {
		const auto &thread = *reinterpret_cast<const Thread *>(part);
		return name_and_id(thread.name, thread.tid);
	}
	return machine_.kinds().interrupt_label(static_cast<std::uint32_t>(part >> 17),
						static_cast<std::uint32_t>(part >> 1) & 0xffff);
}

std::string ActivityFold::text_of(Label label, std::uint64_t part) const
{
	switch (label) {
	case Label::call:
		return part == EDC_NO_SYSCALL ? "-" : machine_.kinds().syscall_label(static_cast<std::uint32_t>(part));
	case Label::waker:
		return waker_text(part);
	case Label::process:
	case Label::thread:
		break;
	}
	return reinterpret_cast<const Thread *>(part)->name;
}

std::unordered_set<const Thread *> ActivityFold::that_ran() const
{
	std::unordered_set<const Thread *> ran;
	for (const Thread &thread : machine_.threads())
		if (thread.usage.cpu() != 0)
			ran.insert({&thread, &machine_.leader(thread)});
	return ran;
}

std::vector<ActivityRow> ActivityFold::rows() const
{
	const std::unordered_set<const Thread *> ran = that_ran();
	std::vector<ActivityRow> rows;
	rows.reserve(groups_.size());
	for (const auto &[key, group] : groups_) {
		ActivityRow row;
		bool slept_all_along = false;
		for (std::size_t i = 0; i < table_.by.size(); ++i) {
			row.labels.push_back(text_of(table_.by[i], key[i]));
			if (table_.by[i] == Label::process || table_.by[i] == Label::thread) {
				const auto &thread = *reinterpret_cast<const Thread *>(key[i]);
				row.pid = thread.tid;
				row.in_tree = thread.in_tree;
				slept_all_along |= !ran.contains(&thread);
			}
		}
		if (slept_all_along)
			continue;
		row.count = group.count;
		row.errors = group.errors;
		row.total = group.total;
		row.max = group.max;
		row.p50 = std::min(group.histogram.percentile(0.5), group.max);
		row.p99 = std::min(group.histogram.percentile(0.99), group.max);
		rows.push_back(std::move(row));
	}
	std::ranges::sort(rows, [](const ActivityRow &a, const ActivityRow &b) {
		return std::tie(b.total, a.pid, a.labels) < std::tie(a.total, b.pid, b.labels);
	});
	return rows;
}

} // namespace monitor::analyze
