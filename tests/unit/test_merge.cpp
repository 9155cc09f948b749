// SPDX-License-Identifier: MIT
// The merge: order, ties, ranges, gaps, early end.
#include <catch2/catch.hpp>

#include <random>

#include "reading/events/merge.h"
#include "samples.h"

namespace test_merge {

using namespace monitor::trace;
using samples::StreamWriter;

namespace {

std::vector<std::uint64_t> times(Trace &trace, TimeRange range = {})
{
	std::vector<std::uint64_t> found;
	merge(trace, range, [&](const Event &event) { found.push_back(event.time); });
	return found;
}

} // namespace

TEST_CASE("merge: at equal times the recorder comes first, then cpu, then level")
{
	std::vector<StreamWriter> writers = {{1, 0}, {0, 1}, {0, 0}, {0xffffffff, 0}};
	for (auto &writer : writers) {
		writer.open(10);
		writer.post(10, 256, 0);
		writer.post(10, 256, 1);
	}
	Trace trace = samples::trace(writers);
	std::vector<std::string> order;
	merge(trace, {}, [&](const Event &event) {
		order.push_back(event.stream->is_recorder()
				    ? "recorder"
				    : std::to_string(event.cpu()) + "." + std::to_string(event.level()));
	});
	CHECK(order == std::vector<std::string>{"recorder", "recorder", "0.0", "0.0", "0.1", "0.1", "1.0", "1.0"});
}

TEST_CASE("merge: many streams, all events, in order")
{
	std::mt19937 random(7);
	for (const unsigned streams : {1u, 2u, 3u, 5u, 17u}) {
		std::vector<StreamWriter> writers;
		std::vector<std::uint64_t> expected;
		for (unsigned i = 0; i < streams; ++i) {
			auto &writer = writers.emplace_back(i / 2, i % 2);
			std::uint64_t time = random() % 1000;
			writer.open(time);
			for (int n = 0; n < 3000; ++n, time += random() % (n % 100 ? 50 : 5000)) {
				if (writer.room() < 16)
					writer.open(time);
				writer.post(time, 257, n & 0xffff, {time});
				expected.push_back(time);
			}
		}
		std::sort(expected.begin(), expected.end());
		Trace trace = samples::trace(writers);
		CHECK(times(trace) == expected);
		CHECK(trace.problems().empty());
		CHECK(trace.begin_time() == expected.front());
		CHECK(trace.end_time() == expected.back());

		const TimeRange range = {expected[expected.size() / 3], expected[expected.size() / 2]};
		std::vector<std::uint64_t> inside;
		for (const std::uint64_t time : expected)
			if (time >= range.from && time <= range.to)
				inside.push_back(time);
		CHECK(times(trace, range) == inside);
	}
}

TEST_CASE("merge: gaps stand in the order of time, losses sum up to what the ring counted")
{
	std::vector<StreamWriter> writers = {{0, 0}, {1, 0}};
	writers[0].open(100);
	writers[0].post(100, 256, 0);
	writers[0].open(300, 4);
	writers[0].post(300, 256, 0);
	writers[1].open(50, 1);
	writers[1].post(200, 256, 0);
	writers[1].post(300, 256, 0);
	Trace trace = samples::trace(writers);
	std::vector<std::string> reported;
	std::uint64_t lost = 0;
	merge(
	    trace, {}, [&](const Event &event) { reported.push_back(std::to_string(event.time)); },
	    [&](const StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t discarded) {
		    reported.push_back("cpu" + std::to_string(stream.cpu) + " " + std::to_string(from) + "-" +
				       std::to_string(to));
		    lost += discarded;
	    });
	CHECK(reported == std::vector<std::string>{"cpu1 50-50", "100", "cpu0 100-300", "200", "300", "300"});
	CHECK(lost == 5);
}

TEST_CASE("merge: the visitor may end it")
{
	std::vector<StreamWriter> writers = {{0, 0}, {1, 0}};
	for (auto &writer : writers) {
		writer.open(1);
		for (std::uint64_t i = 1; i < 100; ++i)
			writer.post(i, 256, 0);
	}
	Trace trace = samples::trace(writers);
	int seen = 0;
	merge(trace, {}, [&](const Event &) -> bool { return ++seen < 5; });
	CHECK(seen == 5);
}

TEST_CASE("merge: nothing in range, and the last possible time")
{
	std::vector<StreamWriter> writers = {{0, 0}, {1, 0}};
	const std::uint64_t last = ~std::uint64_t(0);
	for (auto &writer : writers) {
		writer.open(last - 1);
		writer.post(last - 1, 256, 0);
		writer.post(last, 256, 0);
		writer.post(last, 256, 0);
	}
	Trace trace = samples::trace(writers);
	CHECK(times(trace, {0, 5}).empty());
	CHECK(times(trace).size() == 6);
	CHECK(times(trace, {last, last}).size() == 4);
	CHECK(times(trace, {last - 1, last - 1}).size() == 2);
}

TEST_CASE("merge: a file that is no stream is one problem")
{
	std::vector<StreamWriter> writers = {{0, 0}};
	writers[0].open(1);
	writers[0].post(1, 256, 0);
	const std::vector<std::byte> text(3 * EDC_BLOCK_SIZE + 7, std::byte('x'));
	std::vector<std::unique_ptr<Stream>> streams;
	streams.push_back(samples::stream("notes", text));
	streams.push_back(samples::stream("s", writers[0].bytes()));
	Trace trace(samples::description(), std::move(streams));
	CHECK(times(trace) == std::vector<std::uint64_t>{1});
	CHECK(times(trace).size() == 1);
	REQUIRE(trace.problems().total() == 1);
	CHECK(trace.problems().kept().front().stream == "notes");
}

TEST_CASE("merge: damage is reported once, however often the trace is read")
{
	std::vector<StreamWriter> writers = {{0, 0}};
	for (std::uint64_t i = 1; i < 10; ++i) {
		writers[0].open(i);
		writers[0].post(i, i == 5 ? 999 : 256, 0);
	}
	Trace trace = samples::trace(writers);
	CHECK(times(trace).size() == 8);
	CHECK(times(trace).size() == 8);
	CHECK(trace.problems().total() == 1);
}

} // namespace test_merge
