// SPDX-License-Identifier: MIT
// POET's visits against the internal merge: order, ranges, gaps, filters, early ends, exceptions, several threads.
#include <catch2/catch.hpp>

#include <atomic>
#include <map>

#include "monitor/card.h"
#include "poet_samples.h"

namespace test_poet_visit {

using namespace poet_samples;

namespace {

std::vector<Shown> visited(const poet::Trace &trace, const poet::Selection &selection)
{
	const poet::Field value = trace.field("arg");
	std::vector<Shown> shown;
	poet::visit(
	    trace, selection, [&](const poet::Event &event) { shown.push_back(show(event, value)); },
	    [&](const poet::Gap &gap) { shown.push_back(show(gap)); });
	return shown;
}

using ByStream = std::map<std::uint32_t, std::vector<Shown>>;

ByStream by_stream(const std::vector<Shown> &all)
{
	ByStream made;
	for (const Shown &shown : all)
		made[shown.stream].push_back(shown);
	return made;
}

// What the workers saw; each of them fills a list of its own.
ByStream visited_by_streams(const poet::Trace &trace, const poet::Selection &selection, unsigned threads)
{
	const poet::Field value = trace.field("arg");
	std::vector<std::vector<Shown>> seen(threads);
	poet::visit_streams(
	    trace, selection, threads,
	    [&](unsigned worker, const poet::Event &event) { seen.at(worker).push_back(show(event, value)); },
	    [&](unsigned worker, const poet::Gap &gap) { seen.at(worker).push_back(show(gap)); });
	ByStream made;
	std::size_t streams = 0;
	for (const auto &one : seen)
		for (auto &[stream, items] : by_stream(one)) {
			made[stream] = items;
			++streams;
		}
	CHECK(made.size() == streams); // a stream is one worker's
	return made;
}

} // namespace

TEST_CASE("poet: a visit is the merge, whole and in ranges of time")
{
	std::mt19937 random(2);
	for (const unsigned streams : {1u, 4u, 9u}) {
		auto writers = random_streams(streams + 40, streams, 4000);
		const Directory directory(writers);
		const poet::Trace trace(directory.path());
		const auto all = merged(directory.path());
		CHECK(visited(trace, {}) == all);
		for (int i = 0; i < 20; ++i) {
			std::uint64_t from = all[random() % all.size()].time, to = all[random() % all.size()].time;
			if (from > to)
				std::swap(from, to);
			std::vector<Shown> inside;
			for (const Shown &shown : all)
				if (shown.time <= to && (shown.is_event ? shown.time : shown.to) >= from)
					inside.push_back(shown);
			CHECK(visited(trace, {.from = from, .to = to}) == inside);
			CHECK(visited_by_streams(trace, {.from = from, .to = to}, 2) == by_stream(inside));
		}
	}
}

TEST_CASE("poet: the streams on several threads give what the merge gives of each")
{
	for (const unsigned streams : {1u, 2u, 7u}) {
		auto writers = random_streams(streams + 70, streams, 5000);
		const Directory directory(writers);
		std::string bytes = directory.read("s0");
		bytes[EDC_BLOCK_SIZE * 2] = 'x';
		directory.write("s0", bytes);
		const auto all = merged(directory.path());
		for (const unsigned threads : {1u, 2u, 4u}) {
			const poet::Trace trace(directory.path());
			CHECK(visited_by_streams(trace, {}, threads) == by_stream(all));
			CHECK(trace.problem_count() == 1);
			const poet::Filter filter(trace, "arg % 5 == 1");
			std::vector<Shown> meant;
			for (const Shown &shown : all)
				if (!shown.is_event || shown.value % 5 == 1)
					meant.push_back(shown);
			CHECK(visited(trace, {.filter = &filter}) == meant);
			CHECK(visited_by_streams(trace, {.filter = &filter}, threads) == by_stream(meant));
			CHECK(trace.problem_count() == 1);
		}
	}
}

TEST_CASE("poet: several cursors and visits of one trace at once")
{
	auto writers = random_streams(17, 4, 4000);
	const Directory directory(writers);
	const poet::Trace trace(directory.path());
	const auto all = merged(directory.path());
	std::vector<std::uint64_t> right(4);
	poet::visit_streams(trace, {}, 4, [&](unsigned worker, const poet::Event &) {
		if (right[worker] != 0)
			return false;
		poet::Cursor cursor(trace);
		const poet::Field value = trace.field("arg");
		std::size_t good = 0;
		for (std::size_t i = all.size(); i-- > 0;)
			good +=
			    (i + 1 == all.size() ? cursor.to_end() : void(), cursor.previous()) != poet::Item::none &&
				    show(cursor, value) == all[i]
				? 1
				: 0;
		right[worker] = good + (trace.event_count() > 0 ? 0 : 1);
		return true;
	});
	CHECK(std::count(right.begin(), right.end(), all.size()) > 0);
	for (const std::uint64_t good : right)
		CHECK((good == all.size() || good == 0));
}

TEST_CASE("poet: a visitor ends its visit by false or by an exception")
{
	auto writers = random_streams(8, 3, 3000);
	const Directory directory(writers);
	const poet::Trace trace(directory.path());
	for (const int stop : {1, 2, 255, 256, 257, 1000}) {
		int seen = 0;
		poet::visit(trace, [&](const poet::Event &) { return ++seen < stop; });
		CHECK(seen == stop);
		seen = 0;
		CHECK_THROWS_WITH(poet::visit(trace,
					      [&](const poet::Event &) {
						      if (++seen == stop)
							      throw std::runtime_error("enough");
					      }),
				  "enough");
		CHECK(seen == stop);
		std::atomic<int> all = 0;
		poet::visit_streams(trace, {}, 1, [&](unsigned, const poet::Event &) { return ++all < stop; });
		CHECK(all == stop);
	}
	for (const unsigned threads : {1u, 2u, 4u})
		CHECK_THROWS_WITH(poet::visit_streams(trace, {}, threads,
						      [](unsigned, const poet::Event &) { throw poet::Error("mine"); }),
				  "mine");
	int before_gap = 0;
	poet::visit(
	    trace, {}, [&](const poet::Event &) { ++before_gap; }, [](const poet::Gap &) { return false; });
	CHECK(before_gap < static_cast<int>(trace.event_count()));
}

TEST_CASE("poet: who runs is known to the visit only")
{
	const std::string events = samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch",
							"u16_t prev_state; s32_t prev_pid; s32_t next_pid;") +
				   samples::event_block(257, "tick", "u16_t arg;");
	std::vector<StreamWriter> writers = {{0, 0}};
	const auto pids = [](std::uint64_t prev, std::uint64_t next) { return prev | next << 32; };
	writers[0].open(10).tid = 1;
	writers[0].post(10, 257, 0);
	writers[0].post(20, EDC_ID_SCHED_SWITCH, 0, {pids(1, 2)});
	writers[0].post(30, 257, 1);
	writers[0].post(40, EDC_ID_SCHED_SWITCH, 0, {pids(2, 1)});
	writers[0].post(50, 257, 2);
	const Directory directory(writers, events);
	const poet::Trace trace(directory.path());
	const poet::Filter of_two(trace, "tid == 2 and name == \"tick\"");
	CHECK(of_two.asks_who_runs());
	CHECK_FALSE(poet::Filter(trace, "arg == 2").asks_who_runs());
	std::vector<std::uint64_t> times;
	const auto keep = [&](const poet::Event &event) { times.push_back(event.time()); };
	poet::visit(trace, {.filter = &of_two}, keep);
	poet::visit(trace, {.from = 25, .filter = &of_two}, keep);
	poet::visit(trace, {.from = 35, .filter = &of_two}, keep);
	CHECK(times == std::vector<std::uint64_t>{30, 30});
	CHECK_THROWS_WITH(poet::visit_streams(trace, {.filter = &of_two}, 2, [](unsigned, const poet::Event &) {}),
			  Catch::Contains("visit()"));
}

} // namespace test_poet_visit
