// SPDX-License-Identifier: MIT
// Lanes of activities: their sums are those of the report at every level, and they are as deep as many were open.
#include <array>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "activity_history.h"
#include "answers/view/activity_lanes.h"
#include "answers/view/picture_bytes.h"
#include "answers/view/tile.h"
#include "reading/activities/totals.h"
#include "reading/analyze/thread_fold.h"

namespace test_view_activities {

using namespace monitor;
using namespace activity_history;
using activities::Label;

namespace {

constexpr std::uint64_t bin = 256;

struct Shown {
	explicit Shown(History &history, std::size_t max_bytes = view::ActivityLanes::max_bytes)
	    : info(make_info()), trace(samples::trace(history.streams, events)), thread_fold(trace, info),
	      timeline(thread_fold.window_begin(), thread_fold.window_end(), 1, 1 << 20),
	      tracker(analyze::input_of(trace, info), thread_fold, {}),
	      totals({activities::ActivitySource::program, {Label::activity, Label::process}}, thread_fold, tracker)
	{
		view::ActivityFold fold(thread_fold, tracker, timeline, max_bytes);
		tracker.add(totals);
		tracker.add(fold);
		thread_fold.add(timeline);
		thread_fold.add(tracker);
		analyze::feed(trace, thread_fold);
		timeline.finish(thread_fold);
		tracker.finish();
		lanes = fold.finish();
	}
	static analyze::RecordingInfo make_info()
	{
		analyze::RecordingInfo info;
		info.present = true;
		info.state = "complete";
		info.start.time = 0;
		info.end.time = 1'000'000;
		info.programs = {"sched_switch", "sched_waking"};
		return info;
	}
	std::vector<view::Slice> slices(std::size_t kind, unsigned level) const
	{
		return lanes.slices(kind, level, 0, ~std::uint64_t(0));
	}
	nlohmann::ordered_json json() const { return lanes.json(view::Rows(timeline)); }
	std::string all() const
	{
		std::string bytes = json().dump();
		for (std::size_t kind = 0; kind < lanes.kinds().size(); ++kind)
			for (unsigned level = 0; level < view::levels; ++level)
				bytes += view::slices_tile({timeline, nullptr, nullptr, &lanes}, level, 0,
							   ~std::uint64_t(0), "a" + std::to_string(kind), 1 << 24);
		return bytes;
	}

	analyze::RecordingInfo info;
	trace::Trace trace;
	analyze::ThreadFold thread_fold;
	view::Timeline timeline;
	activities::Tracker tracker;
	activities::Totals totals;
	view::ActivityLanes lanes;
};

// Threads begin and end what they like: some without a partner, some inside each other or, if they have arguments,
// overlapping, and some events are lost.
History some_history(std::mt19937 &random, int events, bool has_arguments = false)
{
	constexpr std::uint32_t cpus = 3;
	History history(cpus);
	std::uint64_t time = 100;
	std::array<std::uint64_t, cpus> lost{}; // events, so far
	for (int i = 0; i < events; ++i) {
		time += 1 + random() % (random() % 10 ? 100 : 900);
		const std::uint32_t cpu = static_cast<std::uint32_t>(random() % cpus);
		if (random() % 100 == 0 || history.streams[1 + cpu].room() < 64)
			history.open(cpu, time, 7, lost[cpu] += random() % 3 == 0);
		const unsigned argument = has_arguments ? static_cast<unsigned>(random() % 8) : 0;
		history.posts(time, std::array{a_begin, a_begin, a_end, b_begin, b_end}[random() % 5], argument,
			      7 + cpu, cpu);
	}
	return history;
}

} // namespace

TEST_CASE("view: lanes of activities have the report's sums at every level")
{
	std::mt19937 random(23);
	std::uint64_t compared = 0, dropped = 0;
	for (int round = 0; round < 200; ++round) {
		History history = some_history(random, 10 + static_cast<int>(random() % 2000), round % 2);
		const Shown shown(history, round % 3 ? view::ActivityLanes::max_bytes : 10'000);
		const std::vector<activities::TotalsRow> rows = shown.totals.rows();
		REQUIRE(shown.lanes.kinds().size() == rows.size());
		dropped += shown.lanes.first_level() > 0;
		for (std::size_t i = 0; i < rows.size(); ++i) {
			const view::ActivityKind &kind = shown.lanes.kinds()[i];
			INFO("round " << round << ", " << rows[i].parts[0].text);
			CHECK(kind.name == rows[i].parts[0].text);
			CHECK(static_cast<std::uint64_t>(kind.pid) == rows[i].parts[1].number);
			CHECK(kind.total == rows[i].total.ticks);
			CHECK(kind.count == rows[i].count);
			CHECK(kind.longest == rows[i].max);
			for (unsigned level = 0; level < view::levels; ++level) {
				std::uint64_t busy = 0;
				for (const view::Slice &slice : shown.slices(i, level))
					busy += slice.busy;
				CHECK(busy == rows[i].total.ticks);
			}
			compared += rows[i].total.ticks != 0;
		}
		CHECK(shown.json()["begins"] == shown.tracker.unpaired().begins);
		CHECK(shown.json()["ends"] == shown.tracker.unpaired().ends);
	}
	CHECK(compared > 300);
	CHECK(dropped > 20);
}

TEST_CASE("view: a lane of activities is as deep as many are open, and names the thread that has most")
{
	History history(2);
	history.switches(0, 0, 0, 7);
	history.posts(4 * bin, a_begin, 0, 7);
	history.switches(5 * bin, 7, 0, 8);
	history.posts(8 * bin, a_begin, 0, 8, 1);
	history.posts(8 * bin + 10, b_begin, 0, 8, 1);
	history.posts(12 * bin, a_end, 0, 7);
	history.posts(16 * bin, a_end, 0, 8, 1);
	const Shown shown(history);
	REQUIRE(shown.lanes.kinds().size() == 1); // nothing is known of how long the b was
	const auto slices = shown.slices(0, 0);
	REQUIRE(slices.size() == 3);
	const auto key_of = [&](std::int32_t tid) { return shown.timeline.find(tid, 0, 0); };
	CHECK((slices[0].bin == 4 && slices[0].bins == 4 && slices[0].busy == 4 * bin && slices[0].count == 1));
	CHECK(slices[0].key == key_of(7));
	CHECK((slices[1].bin == 8 && slices[1].bins == 4 && slices[1].busy == 2 * 4 * bin && slices[1].count == 1));
	CHECK((slices[2].bin == 12 && slices[2].bins == 4 && slices[2].busy == 4 * bin && slices[2].count == 0));
	CHECK(slices[2].key == key_of(8));
	const view::Slice more{4, 2, 0, 1, 400}, less{5, 1, 0, 1, 100};
	const auto summed = view::summed({{{&more, 1}, 1}, {{&less, 1}, 2}}, 0, 10);
	REQUIRE(summed.size() == 2);
	CHECK((summed[1].bin == 5 && summed[1].busy == 300 && summed[1].count == 1 && summed[1].key == 1));
	CHECK(shown.json()["begins"] == 1);
	CHECK(shown.json()["kinds"][0]["longest"] == 8 * bin);
}

TEST_CASE("view: activities next to each other are several, those inside each other are in the lane once")
{
	History first, second;
	for (History *history : {&first, &second}) {
		for (const std::uint64_t begin : {10 * bin, 12 * bin, 20 * bin})
			history->posts(begin, a_begin);
		history->posts(22 * bin, a_end);
		history->posts(30 * bin, a_end);
	}
	const Shown inner(first);
	REQUIRE(inner.slices(0, 0).size() == 1); // 12 to 30, while the first is not over
	CHECK((inner.slices(0, 0)[0].bin == 12 && inner.slices(0, 0)[0].bins == 18));
	second.posts(40 * bin, a_end);
	second.posts(40 * bin, a_begin);
	second.posts(44 * bin, a_end);
	const Shown outer(second);
	REQUIRE(outer.slices(0, 0).size() == 2);
	CHECK((outer.slices(0, 0)[0].bin == 10 && outer.slices(0, 0)[0].bins == 30));
	CHECK((outer.slices(0, 0)[1].bin == 40 && outer.slices(0, 0)[1].count == 1));
}

TEST_CASE("view: lanes of activities are kept as they were, and have no others")
{
	std::mt19937 random(29);
	for (const std::size_t max_bytes : {view::ActivityLanes::max_bytes, std::size_t(10'000)}) {
		History history = some_history(random, 2000);
		Shown shown(history, max_bytes);
		const std::string before = shown.all();
		CHECK_THROWS(view::slices_tile({shown.timeline, nullptr, nullptr, &shown.lanes}, 0, 0, 1, "a9", 100));
		CHECK_THROWS(view::slices_tile({shown.timeline}, 0, 0, 1, "a0", 100));
		view::CacheWriter writer;
		shown.lanes.save(writer);
		view::CacheReader reader(writer.bytes());
		shown.lanes = view::ActivityLanes(shown.timeline, reader);
		CHECK(shown.all() == before);
		view::CacheReader cut(std::string_view(writer.bytes()).substr(0, writer.bytes().size() / 2));
		CHECK_THROWS(view::ActivityLanes(shown.timeline, cut));
	}
}

} // namespace test_view_activities
