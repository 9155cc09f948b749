// SPDX-License-Identifier: MIT
// Activities with counters: from the readings of the CPU that were made inside of them, or from what the threads report
// at their boundaries. One tick is one nanosecond.
#include <catch2/catch.hpp>

#include "counter_history.h"
#include "monitor/user_ring.h"
#include "reading/activities/totals.h"

namespace test_activity_counters {

using namespace monitor;
using namespace counter_history;

namespace {

constexpr unsigned a_begin = 1024, a_end = 1025, other = 1026, reported = EDC_ID_USER_COUNTERS;

const std::string events_with_activities =
    events + samples::event_block(a_begin, "a_begin", "u16_t arg;") +
    samples::event_block(a_end, "a_end", "u16_t arg;") + samples::event_block(other, "other", "u16_t arg;") +
    samples::event_block(reported, "user_counters", "u16_t reserved; u64_t instructions; u64_t clock;");

// One CPU, where thread 7 runs from 0 on, and that thread's own stream.
struct Activities : History {
	Activities()
	{
		start = {reading(0, 10, {0, 0})};
		streams.emplace_back(0, EDC_LEVEL_USER);
		edc_block &header = streams.back().open(0);
		header.tid = header.process = 7;
	}
	void posts(std::uint64_t time, unsigned id, std::initializer_list<std::uint64_t> words = {})
	{
		streams.back().post(time, id, 0, words, EDC_MODE_USER);
	}
	// A begin or an end with the thread's own counters ahead of it.
	void boundary(std::uint64_t time, unsigned id, std::uint64_t instructions, std::uint64_t clock)
	{
		posts(time, reported, {instructions, clock});
		posts(time + 1, id);
	}
};

// What an activity of that history has.
activities::TotalsRow row_of(Activities &history, unsigned user_id = reported)
{
	Json counters = history.counters();
	counters["user_id"] = user_id;
	const analyze::RecordingInfo info = recording(counters);
	trace::Trace trace = trace_of(history, events_with_activities);
	analyze::ThreadFold fold(trace, info);
	analyze::CounterFold counted(trace.description(), info.counters.value());
	activities::Tracker tracker(analyze::input_of(trace, info), fold, {false, &counted});
	activities::Totals totals(
	    {activities::ActivitySource::program, {activities::Label::activity, activities::Label::thread}}, fold,
	    tracker, &counted);
	tracker.add(totals);
	fold.add(counted);
	fold.add(tracker);
	analyze::feed(trace, fold);
	tracker.finish();
	const auto rows = totals.rows();
	REQUIRE(rows.size() == 1);
	return rows[0];
}

} // namespace

TEST_CASE("activities' counters: told at the boundaries, they are exact")
{
	Activities history;
	history.boundary(100, a_begin, 1000, 90);
	history.turns(0, 150, {555, 150}, 7, 8); // the CPU's, which also hold what is around the activity
	history.turns(0, 170, {600, 170}, 8, 7);
	history.boundary(200, a_end, 1250, 170);
	history.posts(210, other);
	history.boundary(220, a_begin, 2000, 190);
	history.boundary(230, a_end, 2007, 200);
	const activities::TotalsRow row = row_of(history);
	CHECK(row.at_boundaries);
	CHECK(row.counted.counts == Values{250 + 7, 80 + 10, 0});
	CHECK(row.counted.ticks[0] == row.total.cpu);
	CHECK(row.counted.missed_ns[0] == 0);
}

TEST_CASE("activities' counters: without one at a boundary the readings inside hold")
{
	Activities history;
	history.boundary(100, a_begin, 1000, 90);
	history.turns(0, 150, {555, 150}, 7, 8);
	history.turns(0, 170, {600, 170}, 8, 7);
	SECTION("not told at the end")
	{
		history.posts(200, a_end);
	}
	SECTION("another event in between, so it is not known whose they are")
	{
		history.posts(198, reported, {1250, 170});
		history.posts(199, other);
		history.posts(200, a_end);
	}
	SECTION("a counter that steps back")
	{
		history.boundary(200, a_end, 999, 170);
	}
	const activities::TotalsRow row = row_of(history);
	CHECK_FALSE(row.at_boundaries);
	CHECK(row.counted.counts == Values{555, 150, 0});
}

TEST_CASE("activities' counters: those without are time in which nothing was counted")
{
	Activities history;
	history.switches(0, 50, 8, 7); // from here on it is known that 7 runs
	history.boundary(99, a_begin, 1000, 90);
	history.boundary(129, a_end, 1250, 170);
	history.posts(200, a_begin);
	history.posts(210, a_end);
	const activities::TotalsRow row = row_of(history);
	CHECK(row.at_boundaries);
	CHECK(row.counted.counts == Values{250, 80, 0});
	CHECK(row.counted.ticks[0] == 40);
	CHECK(row.counted.missed_ns[0] == 10);
}

TEST_CASE("activities' counters: what recurs is counted once, at the outermost boundaries")
{
	Activities history;
	history.boundary(100, a_begin, 1000, 90);
	history.boundary(110, a_begin, 1010, 100);
	history.boundary(120, a_end, 1030, 110);
	history.boundary(130, a_end, 1100, 120);
	const activities::TotalsRow row = row_of(history);
	CHECK(row.at_boundaries);
	CHECK(row.count == 2);
	CHECK(row.counted.counts == Values{100, 30, 0});
}

TEST_CASE("activities' counters: a class that the recording does not name is no such thing")
{
	Activities history;
	history.boundary(100, a_begin, 1000, 90);
	history.boundary(200, a_end, 1250, 170);
	CHECK_FALSE(row_of(history, 0).at_boundaries);
}

} // namespace test_activity_counters
