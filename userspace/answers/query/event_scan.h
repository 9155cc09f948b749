// SPDX-License-Identifier: MIT
// One pass over the events that a plan needs: seeks and decodes only what the constraints of a query leave.
// Made by the cursor of a table of events (event_table.h) for every xFilter. Rejected events never become rows. If the
// query uses threads, all earlier events are needed to know them, or those since the last checkpoint. Invariant: it
// returns what reading the whole trace and checking every constraint would return.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "context.h"
#include "event_columns.h"
#include "reading/events/pull.h"

namespace monitor::query {

// A column's constraint, with the number of the column.
using ColumnConstraint = std::pair<std::size_t, Constraint>;

struct ScanOptions {
	trace::TimeRange range;
	std::vector<ColumnConstraint> constraints;
	std::shared_ptr<const filter::Filter> filter; // may be null
	bool needs_threads = false;                   // for a column, a constraint or the filter
};

class EventScan {
public:
	// `columns` must outlive it.
	EventScan(Context &context, const EventColumns &columns, ScanOptions options);
	EventScan(const EventScan &) = delete;
	EventScan &operator=(const EventScan &) = delete;

	// Moves to the next event. False: there are no more.
	bool next();
	bool was_interrupted() const { return was_interrupted_; }

	const trace::Event &event() const { return pull_->event(); }
	// The running thread; unknown if threads are not needed.
	std::int64_t running() const { return running_; }
	filter::Running running_thread() const { return {running_, threads()}; }
	// nullptr: not needed.
	const trace::Threads *threads() const { return threads_ ? &*threads_ : nullptr; }
	// Identifies the event: the same in every scan, different for every other event.
	std::int64_t row_id() const;

private:
	struct ClassPlan {
		bool is_wanted = false;
		std::vector<std::pair<const FieldColumn *, const Constraint *>> constraints;
		std::vector<std::pair<const FieldColumn *, const Constraint *>> label_constraints;
	};

	void plan_classes();
	bool wants_class(const trace::EventClass &cls, ClassPlan &plan) const;
	bool wants_stream(const trace::Stream &stream) const;
	bool accepts(const trace::Event &event) const;
	bool accepts_common(const trace::Event &event, EventColumn::From from, const Constraint &constraint) const;
	void apply_gap();
	bool is_interrupted();

	Context &context_;
	const EventColumns &columns_;
	ScanOptions options_;
	std::vector<ClassPlan> classes_;                                          // by class index
	std::vector<std::pair<EventColumn::From, const Constraint *>> per_event_; // on what every event has
	std::optional<trace::Threads> threads_;
	std::optional<trace::Pull> pull_;
	std::uint64_t begin_time_ = 0; // start of the pass: a checkpoint's time
	std::uint64_t since_checkpoint_ = 0, last_time_ = 0, read_ = 0;
	std::int64_t running_ = trace::Threads::unknown;
	bool is_after_pending_ = false; // the current event was not passed to Threads::after() yet
	bool was_interrupted_ = false;
};

} // namespace monitor::query
