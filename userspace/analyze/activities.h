// SPDX-License-Identifier: MIT
// The activity fold: intervals, grouped and summed as a table specifies. A table (share/tables/*.json) names the
// activity and the labels to group by; the reports `syscalls` and `offcpu` are two such tables. Fed by Machine as an
// Observer, read by report/usage_report.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "histogram.h"
#include "machine.h"

namespace monitor::analyze {

enum class Activity { system_call, blocked };
enum class Label { process, thread, call, waker };

struct ActivityTable {
	std::string name, title;
	Activity activity = Activity::system_call;
	std::vector<Label> by;
};

// Reads share/tables/NAME.json; throws Error if it is missing or wrong.
ActivityTable load_table(const std::string &name);

struct ActivityRow {
	std::vector<std::string> labels;                         // in the order of the table's `by`
	std::int32_t pid = 0;                                    // of the process or thread among them
	bool in_tree = false;                                    // of the recorded command
	std::uint64_t count = 0, errors = 0, total = 0, max = 0; // durations in ticks
	std::uint64_t p50 = 0, p99 = 0;
};

class ActivityFold : public Observer {
public:
	ActivityFold(ActivityTable table, const Machine &machine) : table_(std::move(table)), machine_(machine) {}

	void system_call(const Thread &thread, std::uint32_t number, std::uint64_t ticks, std::int64_t result) override;
	void blocked(const Thread &thread, std::uint64_t from, std::uint64_t to, const Waker &waker) override;

	const ActivityTable &table() const { return table_; }
	// By descending total. Names are those at the end of the trace. Threads and processes that never ran are left
	// out.
	std::vector<ActivityRow> rows() const;

private:
	static constexpr std::size_t max_labels = 4;
	using Key = std::array<std::uint64_t, max_labels>;
	struct KeyHash {
		std::size_t operator()(const Key &key) const
		{
			std::uint64_t hash = 0;
			for (std::uint64_t part : key)
				hash = (hash ^ part) * 0x9e3779b97f4a7c15ull ^ hash >> 29;
			return hash;
		}
	};
	struct Group {
		std::uint64_t count = 0, errors = 0, total = 0, max = 0;
		Histogram histogram;
	};

	std::unordered_set<const Thread *> that_ran() const;
	Key key_of(const Thread &thread, std::uint32_t call, const Waker &waker) const;
	void add(const Key &key, std::uint64_t ticks, bool error);
	std::string text_of(Label label, std::uint64_t part) const;
	std::string waker_text(std::uint64_t part) const;

	ActivityTable table_;
	const Machine &machine_;
	std::unordered_map<Key, Group, KeyHash> groups_;
};

} // namespace monitor::analyze
