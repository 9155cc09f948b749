// SPDX-License-Identifier: MIT
// The segment fold: small hand-made histories of counters and resets, and what lies between two resets.
#include <catch2/catch.hpp>

#include "answers/report/segments_table.h"
#include "counter_history.h"
#include "monitor/card.h"
#include "reading/analyze/segments.h"

namespace test_segments {

using namespace monitor;
using namespace counter_history;
using analyze::SegmentBy;

namespace {

constexpr unsigned a = 0, b = 1;

const std::string events_with_resets =
    events + samples::event_block(EDC_ID_COUNTERS_RESET, "counters_reset", "u16_t at;");

struct Resets : History {
	using History::History;

	// A reading of the first set, and the reset after it.
	void resets(std::uint32_t cpu, std::uint64_t time, std::initializer_list<std::uint64_t> values, unsigned event)
	{
		reads(cpu, time, values);
		streams[cpu].post(time + 1, EDC_ID_COUNTERS_RESET, event);
	}
};

struct Segments {
	Segments(Resets &history, SegmentBy by, const List &names = {"a", "b"})
	    : info(recording(counters(history, names))), trace(trace_of(history, events_with_resets)),
	      thread_fold(trace, info), counted(trace.description(), info.counters.value()),
	      fold(by, trace.description(), thread_fold, counted)
	{
		thread_fold.add(counted);
		thread_fold.add(fold);
		analyze::feed(trace, thread_fold);
		rows = fold.rows();
	}
	static Json counters(const Resets &history, const List &names)
	{
		Json json = history.counters();
		json["resets"] = names;
		return json;
	}

	analyze::RecordingInfo info;
	trace::Trace trace;
	analyze::ThreadFold thread_fold;
	analyze::CounterFold counted;
	analyze::SegmentFold fold;
	std::vector<analyze::SegmentRow> rows;
};

// Thread 7 resets at a, is away while 8 runs, goes on on the other CPU and resets at b there, then at a.
Resets wandering()
{
	Resets history(2);
	history.start = {reading(0, 10, {0, 0}), reading(1, 10, {0, 0})};
	history.turns(1, 20, {50, 5}, 7, 8);
	history.resets(0, 100, {1000, 90}, a);
	history.turns(0, 200, {1010, 190}, 7, 8);
	history.turns(0, 300, {5000, 290}, 8, 0);
	history.turns(1, 400, {9000, 380}, 8, 7);
	history.resets(1, 450, {9007, 430}, b);
	history.resets(1, 500, {9011, 480}, a);
	return history;
}

} // namespace

TEST_CASE("segments: a thread's own counts, wherever it runs, and nobody else's")
{
	Resets history = wandering();
	const Segments segments(history, SegmentBy::thread);
	REQUIRE(segments.rows.size() == 2);
	CHECK(segments.rows[0].from == "a");
	CHECK(segments.rows[0].to == "b");
	CHECK(segments.rows[0].number == 7);
	CHECK(segments.rows[0].count == 1);
	CHECK(segments.rows[0].total == 350);
	CHECK(segments.rows[0].counted.counts == Values{10 + 7, 100 + 50, 0});
	CHECK(segments.rows[1].from == "b");
	CHECK(segments.rows[1].to == "a");
	CHECK(segments.rows[1].total == 50);
	CHECK(segments.rows[1].counted.counts == Values{4, 50, 0});
	CHECK(segments.fold.interrupted() == 0);
}

TEST_CASE("segments: of a CPU they hold whatever ran there")
{
	Resets history = wandering();
	history.resets(0, 600, {5001, 590}, a);
	const Segments segments(history, SegmentBy::cpu);
	REQUIRE(segments.rows.size() == 2);
	CHECK(segments.rows[0].from == "a");
	CHECK(segments.rows[0].to == "a");
	CHECK(segments.rows[0].number == 0);
	CHECK(segments.rows[0].counted.counts == Values{4001, 500, 0});
	CHECK(segments.rows[1].number == 1);
	CHECK(segments.rows[1].counted.counts == Values{4, 50, 0});
}

TEST_CASE("segments: equal ones are summed, with their distribution")
{
	Resets history;
	history.start = {reading(0, 10, {0, 0})};
	for (const std::uint64_t time : {100, 110, 130, 170})
		history.resets(0, time, {time * 2, time}, a);
	const Segments segments(history, SegmentBy::process);
	REQUIRE(segments.rows.size() == 1);
	CHECK(segments.rows[0].count == 3);
	CHECK(segments.rows[0].total == 70);
	CHECK(segments.rows[0].mean == 23);
	CHECK(segments.rows[0].max == 40);
	CHECK(segments.rows[0].counted.counts == Values{140, 70, 0});
	CHECK(segments.rows[0].counted.occurrences == 3);
}

TEST_CASE("segments: none across a loss, and it is said how many")
{
	Resets history;
	history.start = {reading(0, 10, {0, 0})};
	history.resets(0, 100, {10, 10}, a);
	history.open(0, 200, 3); // a reset may be among the three
	history.resets(0, 210, {20, 20}, a);
	history.resets(0, 230, {25, 25}, a);
	const Segments segments(history, SegmentBy::thread);
	REQUIRE(segments.rows.size() == 1);
	CHECK(segments.rows[0].count == 1);
	CHECK(segments.rows[0].counted.counts == Values{5, 5, 0});
	CHECK(segments.fold.interrupted() == 1);
	CHECK(report::segments_text(segments.fold, segments.info).find("1 segments are in no row") == 0);
}

TEST_CASE("segments: none of a thread that may have reset unseen on a CPU whose events are lost")
{
	Resets history(2);
	history.start = {reading(0, 10, {0, 0}), reading(1, 10, {0, 0})};
	history.turns(1, 20, {5, 5}, 0, 8);
	history.open(1, 500, 3);
	history.turns(0, 100, {10, 90}, 0, 7);
	history.resets(0, 200, {20, 190}, a);
	history.turns(0, 210, {30, 200}, 7, 0);
	history.turns(0, 300, {40, 290}, 0, 7); // in between it may have been on CPU 1
	history.resets(0, 310, {50, 300}, a);
	history.resets(0, 600, {60, 590}, a);
	history.resets(0, 700, {70, 690}, a);
	const Segments segments(history, SegmentBy::thread);
	REQUIRE(segments.rows.size() == 1);
	CHECK(segments.rows[0].count == 1);
	CHECK(segments.rows[0].total == 100);
	CHECK(segments.fold.interrupted() == 2);
}

TEST_CASE("segments: numbers that name no event are in no row")
{
	Resets history;
	history.resets(0, 100, {10, 10}, 2);
	history.resets(0, 110, {20, 20}, 65535);
	const Segments segments(history, SegmentBy::thread);
	CHECK(segments.rows.empty());
	CHECK(segments.fold.unknown() == 2);
	CHECK_THROWS(Segments(history, SegmentBy::thread, {}));
}

} // namespace test_segments
