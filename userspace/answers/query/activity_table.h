// SPDX-License-Identifier: MIT
// The table `activities`: a row for each interval between two events: system calls, blocked times, programs'
// activities.
// Pull -> ThreadFold -> Tracker -> finished activities -> rows
// Nothing is stored: every scan folds the trace from its start while rows are fetched, in the order in which the
// activities end. Used through Module (module.h). Invariant: an activity is reported once, when its end was seen;
// `whole` is 0 if its start or its end was not seen.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "context.h"
#include "memory_table.h"
#include "reading/activities/tracker.h"
#include "reading/events/pull.h"

namespace monitor::query {

class ActivityCursor : private activities::Observer {
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
	void finished(const activities::Finished &activity) override;

	std::vector<Value> row_of(const char *kind, Value name, const activities::Finished &activity) const;
	void add_waker(const analyze::Waker &waker, std::vector<Value> &row) const;
	void add_shares(const activities::Span &span, std::vector<Value> &row) const;
	void fold_more();

	Context &context_;
	std::optional<analyze::ThreadFold> fold_;
	std::optional<activities::Tracker> tracker_;
	std::optional<trace::Pull> pull_;
	std::deque<std::vector<Value>> rows_; // finished, not fetched yet
	std::int64_t number_ = 0;
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
