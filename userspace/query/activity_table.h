// SPDX-License-Identifier: MIT
// The table `activities`: the interval between two events, one row each: system calls, blocked times, programs'
// activities.
//
//     Pull -> Machine (and UserActivityFold) -> finished intervals -> rows
//
// Nothing is kept: every scan folds the trace from its start while rows are fetched, in the order in which the
// activities end. Used through Module (module.h).
// Invariant: an activity is reported once, when its end was seen; `whole` is 0 if its start or its end was not seen.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/machine.h"
#include "analyze/user_activities.h"
#include "context.h"
#include "memory_table.h"
#include "trace/pull.h"

namespace monitor::query {

class ActivityCursor : private analyze::Observer {
public:
	explicit ActivityCursor(Context &context) : context_(context) {}
	ActivityCursor(const ActivityCursor &) = delete;
	ActivityCursor &operator=(const ActivityCursor &) = delete;

	void filter(int plan, sqlite3_value **values);
	void next();
	bool is_at_end() const { return rows_.empty(); }
	void column(sqlite3_context *context, std::size_t number) const { put(context, rows_.front()[number]); }
	std::int64_t row_id() const { return number_; }

private:
	void system_call(const analyze::Thread &thread, std::uint32_t number, std::uint64_t ticks,
			 std::int64_t result) override;
	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override;
	void add_row(const analyze::UserActivity &closed);

	std::vector<Value> row_of(const char *kind, Value name, const analyze::Thread &thread, std::uint64_t begin,
				  std::uint64_t end) const;
	void fold_more();

	Context &context_;
	std::optional<analyze::Machine> machine_;
	std::optional<analyze::UserActivityFold> user_activities_;
	std::optional<trace::Pull> pull_;
	std::deque<std::vector<Value>> rows_; // finished, not fetched yet
	std::int64_t number_ = 0;
	std::uint64_t time_ = 0; // of the event being folded
	bool is_finished_ = false;
};

class ActivityTable {
public:
	using Cursor = ActivityCursor;

	explicit ActivityTable(Context &context) : context_(context) {}

	static const char *columns();
	std::string declaration() const { return std::string("CREATE TABLE x(") + columns() + ")"; }
	int best_index(sqlite3_index_info &info) const;
	std::unique_ptr<ActivityCursor> make_cursor() { return std::make_unique<ActivityCursor>(context_); }

private:
	Context &context_;
};

} // namespace monitor::query
