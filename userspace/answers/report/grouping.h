// SPDX-License-Identifier: MIT
// Assigns threads to rows of a report.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "reading/analyze/thread_fold.h"
#include "table.h"

namespace monitor::report {

enum class GroupBy { process, thread, cpu, command, cgroup };

struct GroupingOptions {
	GroupBy by = GroupBy::process;
	bool filtering = false; // threads rejected by -p form one row, `other`
	std::map<std::uint64_t, std::string> cgroup_paths;
};

class Grouping {
public:
	struct Row {
		std::string name;
		std::int32_t pid = -1; // -1: of several processes
		bool in_tree = false;  // of the recorded command
		bool other = false;
		bool hidden = false; // includes hidden threads, whose usage is unknown
	};

	Grouping(const analyze::ThreadFold &fold, const GroupingOptions &options) : fold_(fold), options_(options) {}

	// Index into rows(); adds a row if needed. `cgroup`: where the usage occurred.
	std::size_t row_of(const analyze::Thread &thread, std::uint64_t cgroup);
	std::size_t row_of(const analyze::Thread &thread) { return row_of(thread, fold_.cgroup_of(thread)); }
	std::string cgroup_path(std::uint64_t id) const;
	const std::vector<Row> &rows() const { return rows_; }

	// The leading columns of a table, and their cells in a row.
	std::vector<Column> columns() const;
	std::vector<Cell> cells(const Row &row) const;

private:
	std::size_t row_for_key(const void *key, const std::string &name, std::int32_t pid);
	std::size_t row_for_name(const std::string &name, bool other = false);
	std::size_t find(const analyze::Thread &thread, std::uint64_t cgroup);
	bool rows_have_number() const { return options_.by == GroupBy::process || options_.by == GroupBy::thread; }

	const analyze::ThreadFold &fold_;
	const GroupingOptions &options_;
	std::vector<Row> rows_;
	std::unordered_map<const void *, std::size_t> by_key_;
	std::unordered_map<std::string, std::size_t> by_name_;
};

} // namespace monitor::report
