// SPDX-License-Identifier: MIT
// One pass over the events that a plan wants: what the constraints of a query leave is seeked to and decoded.
//
// Made by the cursor of a table of events (event_table.h) for every xFilter. What the tests deny never becomes a row.
// If the query asks for threads, all events before are needed to know them, or the last checkpoint before.
// Invariant: what it gives is what reading all of the trace and asking every test would give.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "context.h"
#include "event_columns.h"
#include "trace/pull.h"

namespace monitor::query {

// A column's test, by the number of the column.
using ColumnTest = std::pair<std::size_t, Test>;

struct ScanOptions {
	trace::TimeRange range;
	std::vector<ColumnTest> tests;
	std::shared_ptr<const filter::Filter> filter; // or null
	bool knows_threads = false;                   // somebody asks for them
};

class EventScan {
public:
	// `columns` must outlive it.
	EventScan(Context &context, const EventColumns &columns, ScanOptions options);
	EventScan(const EventScan &) = delete;
	EventScan &operator=(const EventScan &) = delete;

	// Goes to the next event. False: there is none any more.
	bool next();
	bool was_interrupted() const { return was_interrupted_; }

	const trace::Event &event() const { return pull_->event(); }
	// Who ran; unknown if nobody asked for it.
	std::int64_t running() const { return running_; }
	// nullptr: nobody asked for them.
	const trace::Threads *threads() const { return threads_ ? &*threads_ : nullptr; }
	// Of the event: the same in every scan, and of no other event.
	std::int64_t row_id() const;

private:
	struct ClassPlan {
		bool is_wanted = false;
		std::vector<std::pair<const FieldColumn *, const Test *>> tests;
		std::vector<std::pair<const FieldColumn *, const Test *>> label_tests;
	};

	void plan_classes();
	bool wants_class(const trace::EventClass &cls, ClassPlan &plan) const;
	bool wants_stream(const trace::Stream &stream) const;
	bool takes(const trace::Event &event) const;
	bool takes_common(const trace::Event &event, EventColumn::From from, const Test &test) const;
	void pass_gap();
	bool pause();

	Context &context_;
	const EventColumns &columns_;
	ScanOptions options_;
	std::vector<ClassPlan> classes_;                                    // by class index
	std::vector<std::pair<EventColumn::From, const Test *>> per_event_; // of what every event has
	std::optional<trace::Threads> threads_;
	std::optional<trace::Pull> pull_;
	std::uint64_t began_ = 0; // where the pass begins: at a checkpoint
	std::uint64_t since_checkpoint_ = 0, last_time_ = 0, read_ = 0;
	std::int64_t running_ = trace::Threads::unknown;
	bool is_before_after_ = false; // an event was given that the threads have not learned from
	bool was_interrupted_ = false;
};

} // namespace monitor::query
