// SPDX-License-Identifier: MIT
// Replays a recording of statistics (record --statistics): it has sums per period instead of events, which are added to
// the threads and CPUs of a fold (thread_fold.h), so all that uses a fold works on statistics.
// A period is within the window or not; readers widen the window to whole ones (answers/selection/). Its records are
// those between its statistics_period and the next one: rows are numbered in the order of statistics_thread; usages,
// counts and throttled times belong to the row before them, buckets, inclusive times and transfers to the sum before
// them. All of it is untrusted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "event_kinds.h"
#include "loss_bounds.h"
#include "observer.h"
#include "thread.h"
#include "thread_table.h"
#include "time_account.h"

namespace monitor::analyze {

// Totals of the periods in the window.
struct Periods {
	std::uint64_t count = 0, ticks = 0;
	std::uint64_t lossy = 0;                                // periods with lost events
	std::uint64_t lost = 0, late = 0;                       // events discarded, and events too late for any period
	std::uint64_t recorder_ns = 0;                          // CPU time of the recorder
	std::map<std::uint32_t, std::uint64_t> events, outside; // by class id; outside: events in none of all periods
	// Activities of programs: those that ended, starts and ends without the other half, and those open at the end.
	std::uint64_t activities = 0, unpaired_begins = 0, unpaired_ends = 0, open = 0;
};

class StatisticsReplay {
public:
	// What the records are added to.
	struct Target {
		ThreadTable &threads;
		TimeAccount &times;
		LossBounds &losses;
		const std::vector<Observer *> &observers;
	};

	void event(const EventKind &kind, const trace::Event &event, const Target &to);
	// Delivers the last sum, which more records might have continued.
	void finish(const Target &to) { deliver_sum(to); }

	const Periods &periods() const { return periods_; }
	// Events of the periods in the window.
	std::uint64_t tokens() const { return tokens_; }

	// For a copy: its rows refer to these threads.
	void separate(const ThreadTable::Copies &copies);

private:
	// The period that is being read.
	struct Period {
		std::uint64_t begin = 0, end = 0;
		bool is_counted = false; // the window includes it
		std::vector<Thread *> rows;
		// The sum that the buckets that follow belong to, and the thread that it is of; null: none.
		const Thread *owner = nullptr;
		EventMeaning kind = EventMeaning::other;
		std::uint32_t call = 0, caller = 0; // `call`: the call or the activity
		Waker waker;
		Summed summed;
	};

	void on_events(std::uint32_t id, std::uint64_t number);
	void on_period(const EventKind &kind, const trace::Event &event, const Target &to);
	void on_cpu(const EventKind &kind, const trace::Event &event, TimeAccount &times) const;
	void on_thread(const EventKind &kind, const trace::Event &event, const Target &to);
	void on_usage(const EventKind &kind, const trace::Event &event) const;
	void on_counts(const EventKind &kind, const trace::Event &event) const;
	void on_throttled(std::uint64_t ticks) const;
	void on_sum(const EventKind &kind, const trace::Event &event, const ThreadTable &threads);
	void on_activities(const EventKind &kind, const trace::Event &event, const ThreadTable &threads);
	void on_sum_continued(const EventKind &kind, const trace::Event &event);
	void on_open(const EventKind &kind, const trace::Event &event);
	void on_buckets(const EventKind &kind, const trace::Event &event);
	Thread &thread_of(const EventKind &kind, const trace::Event &event, ThreadTable &threads);
	void deliver_sum(const Target &to);

	Periods periods_;
	std::uint64_t tokens_ = 0;
	Period period_;
	std::map<std::tuple<bool, std::string, std::uint64_t>, Thread *> sums_; // by kind, command and cgroup
};

} // namespace monitor::analyze
