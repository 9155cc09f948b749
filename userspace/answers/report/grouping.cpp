// SPDX-License-Identifier: MIT
#include "grouping.h"

#include <fmt/format.h>

namespace monitor::report {

std::size_t Grouping::row_of(const analyze::Thread &thread, std::uint64_t cgroup)
{
	const std::size_t row = find(thread, cgroup);
	rows_[row].in_tree |= thread.in_tree;
	rows_[row].hidden |= thread.hidden && thread.has_run && !rows_[row].other;
	return row;
}

std::size_t Grouping::find(const analyze::Thread &thread, std::uint64_t cgroup)
{
	if (options_.filtering && thread.filtered)
		return row_for_name("other", true);
	const analyze::Thread &leader = fold_.leader(thread);
	// Hidden threads have rows of their own, so that the others' times stay known.
	const char *const suffix = thread.hidden && thread.has_run ? " (hidden)" : "";
	if (thread.sum != analyze::Sum::none && rows_have_number())
		return row_for_name(thread.label());
	switch (options_.by) {
	case GroupBy::thread:
		return row_for_key(&thread, thread.name, thread.tid);
	case GroupBy::command:
		return row_for_name((leader.name.empty() ? "?" : leader.name) + suffix);
	case GroupBy::cgroup:
		return row_for_name(cgroup_path(cgroup) + suffix);
	default:
		return row_for_key(&leader, leader.name, leader.tgid);
	}
}

std::string Grouping::cgroup_path(std::uint64_t id) const
{
	const auto path = options_.cgroup_paths.find(id);
	return path != options_.cgroup_paths.end() ? path->second : id ? fmt::format("cgroup {}", id) : "unknown";
}

std::size_t Grouping::row_for_key(const void *key, const std::string &name, std::int32_t pid)
{
	const auto [found, is_new] = by_key_.try_emplace(key, rows_.size());
	if (is_new)
		rows_.push_back({name.empty() ? "?" : name, pid, false, false});
	return found->second;
}

std::size_t Grouping::row_for_name(const std::string &name, bool other)
{
	const auto [found, is_new] = by_name_.try_emplace(name, rows_.size());
	if (is_new)
		rows_.push_back({name, -1, false, other});
	return found->second;
}

std::vector<Column> Grouping::columns() const
{
	const char *what = options_.by == GroupBy::thread    ? "thread"
			   : options_.by == GroupBy::command ? "command"
			   : options_.by == GroupBy::cgroup  ? "cgroup"
							     : "process";
	const char *number = options_.by == GroupBy::thread ? "tid" : "pid";
	std::vector<Column> columns = {recorded_column(), {what, what, Unit::text, 0, "whose figures these are"}};
	if (rows_have_number())
		columns.push_back({number, number, Unit::count, 4, "the number of the process or thread"});
	return columns;
}

std::vector<Cell> Grouping::cells(const Row &row) const
{
	std::vector<Cell> cells = {row.in_tree, row.name};
	if (rows_have_number())
		cells.push_back(row.pid < 0 ? Cell() : Cell(static_cast<std::uint64_t>(row.pid)));
	return cells;
}

} // namespace monitor::report
