// SPDX-License-Identifier: MIT
// POET's cursor against the internal merge: forward, backward, steps, indexes, times, filters, damage.
#include <catch2/catch.hpp>

#include "poet_samples.h"

namespace test_poet_cursor {

using namespace poet_samples;

namespace {

std::vector<Shown> forward(const poet::Trace &trace)
{
	poet::Cursor cursor(trace);
	const poet::Field value = trace.field("arg");
	std::vector<Shown> shown;
	while (cursor.next() != poet::Item::none)
		shown.push_back(show(cursor, value));
	return shown;
}

std::vector<Shown> backward(const poet::Trace &trace)
{
	poet::Cursor cursor(trace);
	const poet::Field value = trace.field("arg");
	std::vector<Shown> shown;
	for (cursor.to_end(); cursor.previous() != poet::Item::none;)
		shown.push_back(show(cursor, value));
	return shown;
}

// What the items say of indexes: events()[i] is the item of event i.
struct Expected {
	explicit Expected(std::vector<Shown> all) : items(std::move(all))
	{
		for (std::size_t i = 0; i < items.size(); ++i) {
			index.push_back(events.size());
			if (items[i].is_event)
				events.push_back(i);
		}
		index.push_back(events.size());
	}
	std::vector<Shown> items;
	std::vector<std::size_t> events, index;
};

// Where a cursor should stand: items.size() is after the last, -1 before the first.
class Follower {
public:
	Follower(const poet::Trace &trace, const Expected &expected)
	    : cursor(trace), value_(trace.field("arg")), expected_(expected)
	{
	}

	std::ptrdiff_t last() const { return static_cast<std::ptrdiff_t>(expected_.items.size()); }
	bool is_right()
	{
		if (at < 0 || at == last())
			return cursor.item() == poet::Item::none;
		return cursor.item() != poet::Item::none &&
		       show(cursor, value_) == expected_.items[static_cast<std::size_t>(at)];
	}
	std::uint64_t position() const
	{
		return expected_.index[static_cast<std::size_t>(std::max<std::ptrdiff_t>(at, 0))];
	}
	void move(std::int64_t by)
	{
		cursor.move(by);
		for (; by > 0 && at < last(); by -= is_event(at) ? 1 : 0)
			++at;
		for (; by < 0 && at >= 0; by += is_event(at) ? 1 : 0)
			--at;
	}
	void move_to(std::uint64_t index)
	{
		cursor.move_to(index);
		at = index < expected_.events.size() ? static_cast<std::ptrdiff_t>(expected_.events[index]) : last();
	}
	void seek(std::uint64_t time)
	{
		cursor.seek(time);
		for (at = 0; at < last() && expected_.items[static_cast<std::size_t>(at)].time < time;)
			++at;
	}

	poet::Cursor cursor;
	std::ptrdiff_t at = -1;

private:
	bool is_event(std::ptrdiff_t i) const
	{
		return i >= 0 && i < last() && expected_.items[static_cast<std::size_t>(i)].is_event;
	}
	poet::Field value_;
	const Expected &expected_;
};

// Moves at random, and says after how many it stood elsewhere than expected; 0: never.
int wrong_move(const poet::Trace &trace, const Expected &expected, std::mt19937 &random, int moves)
{
	Follower follower(trace, expected);
	const std::uint64_t begin = expected.items.front().time, end = expected.items.back().time;
	for (int n = 1; n <= moves; ++n) {
		const unsigned way = random() % 12;
		const unsigned runs = random() % 50;
		if (way < 4) {
			for (unsigned i = 0; i < runs; ++i, follower.at = std::min(follower.at + 1, follower.last()))
				follower.cursor.next();
		} else if (way < 8) {
			for (unsigned i = 0; i < runs; ++i, follower.at = std::max<std::ptrdiff_t>(follower.at - 1, -1))
				follower.cursor.previous();
		} else if (way == 8) {
			follower.move(static_cast<std::int64_t>(random() % 4001) - 2000);
		} else if (way == 9) {
			follower.move_to(random() % (expected.events.size() + 3));
		} else {
			follower.seek(begin - 5 + random() % (end - begin + 10));
		}
		if (!follower.is_right() || (random() % 4 == 0 && follower.cursor.position() != follower.position()))
			return n;
	}
	return 0;
}

} // namespace

TEST_CASE("poet: backward is forward in reverse, and forward is the merge")
{
	for (const unsigned streams : {1u, 2u, 5u, 12u})
		for (unsigned seed = 0; seed < 4; ++seed) {
			auto writers = random_streams(seed * 100 + streams, streams, 4000);
			const Directory directory(writers);
			const poet::Trace trace(directory.path());
			auto expected = merged(directory.path());
			CHECK(forward(trace) == expected);
			std::reverse(expected.begin(), expected.end());
			CHECK(backward(trace) == expected);
			CHECK(trace.problem_count() == 0);
		}
}

TEST_CASE("poet: moves by steps, by index and by time go where a list of all items says")
{
	std::mt19937 random(5);
	for (const unsigned streams : {1u, 3u, 8u}) {
		auto writers = random_streams(streams, streams, 6000);
		const Directory directory(writers);
		const poet::Trace trace(directory.path());
		const Expected expected(merged(directory.path()));
		REQUIRE(trace.event_count() == expected.events.size());
		CHECK(wrong_move(trace, expected, random, 400) == 0);
	}
}

TEST_CASE("poet: a cursor stops at both ends")
{
	auto writers = random_streams(1, 2, 100);
	const Directory directory(writers);
	const poet::Trace trace(directory.path());
	poet::Cursor cursor(trace);
	cursor.show_gaps(false);
	CHECK(cursor.item() == poet::Item::none);
	CHECK(cursor.previous() == poet::Item::none);
	CHECK(cursor.position() == 0);
	CHECK_THROWS_AS(cursor.event(), poet::Error);
	CHECK_THROWS_AS(cursor.time(), poet::Error);
	CHECK(cursor.next() == poet::Item::event);
	CHECK(cursor.position() == 0);
	CHECK(cursor.previous() == poet::Item::none);
	CHECK(cursor.move(1) == poet::Item::event);
	CHECK(cursor.position() == 0);
	CHECK(cursor.move_to(trace.event_count()) == poet::Item::none);
	CHECK(cursor.position() == trace.event_count());
	CHECK(cursor.next() == poet::Item::none);
	CHECK(cursor.move(-1) == poet::Item::event);
	CHECK(cursor.position() == trace.event_count() - 1);
	CHECK(cursor.move(0) == poet::Item::event);
	CHECK(cursor.move(std::numeric_limits<std::int64_t>::max()) == poet::Item::none);
	CHECK(cursor.position() == trace.event_count());
	CHECK(cursor.move(std::numeric_limits<std::int64_t>::min()) == poet::Item::none);
	CHECK(cursor.position() == 0);
	CHECK(cursor.next() == poet::Item::event);
	CHECK(cursor.seek_ns(-5) == poet::Item::event);
	CHECK(cursor.position() == 0);
	CHECK(cursor.seek(~std::uint64_t(0)) == poet::Item::none);
	CHECK(cursor.position() == trace.event_count());
}

TEST_CASE("poet: next and previous that pass a filter")
{
	auto writers = random_streams(3, 4, 5000);
	const Directory directory(writers);
	const poet::Trace trace(directory.path());
	const poet::Field value = trace.field("arg");
	std::vector<Shown> expected;
	for (const Shown &shown : merged(directory.path()))
		if (shown.is_event && shown.value % 7 == 3)
			expected.push_back(shown);
	const poet::Filter filter(trace, "arg % 7 == 3");
	poet::Cursor cursor(trace);
	cursor.show_gaps(false);
	std::vector<Shown> there, back;
	while (cursor.next(filter) == poet::Item::event)
		there.push_back(show(cursor, value));
	while (cursor.previous(filter) == poet::Item::event)
		back.push_back(show(cursor, value));
	CHECK(there == expected);
	std::reverse(back.begin(), back.end());
	CHECK(back == expected);

	poet::Cursor with_gaps(trace);
	std::size_t gaps = 0;
	for (poet::Item item; (item = with_gaps.next(filter)) != poet::Item::none;)
		gaps += item == poet::Item::gap ? 1 : 0;
	CHECK(gaps > 0);
	CHECK_THROWS_WITH(cursor.next(poet::Filter(trace, "tid == 1")), Catch::Contains("visit()"));
	const poet::Trace other(directory.path());
	CHECK_THROWS_WITH(cursor.next(poet::Filter(other, "arg == 1")), Catch::Contains("another trace"));
}

TEST_CASE("poet: damaged packets, events and files are read from both sides alike")
{
	std::mt19937 random(11);
	for (int round = 0; round < 30; ++round) {
		auto writers = random_streams(static_cast<unsigned>(round), 3, 5000);
		const Directory directory(writers);
		for (int hits = 0; hits < 6; ++hits) {
			const std::string name = "s" + std::to_string(random() % 3);
			std::string bytes = directory.read(name);
			const std::size_t packet = random() % (bytes.size() / EDC_BLOCK_SIZE) * EDC_BLOCK_SIZE;
			if (hits == 0)
				bytes.resize(bytes.size() - random() % 5000); // cut
			else if (hits < 3)
				bytes[packet] = 'x'; // the magic
			else
				std::memset(bytes.data() + packet + EDC_BLOCK_HEADER + random() % 300 * 8, 0, 8);
			directory.write(name, bytes);
		}
		const poet::Trace trace(directory.path());
		auto expected = merged(directory.path());
		CHECK(wrong_move(trace, Expected(expected), random, 60) == 0);
		CHECK(forward(trace) == expected);
		std::reverse(expected.begin(), expected.end());
		CHECK(backward(trace) == expected);

		auto found = monitor::trace::Trace::open(directory.path());
		monitor::trace::merge(found, {}, [](const monitor::trace::Event &) {});
		CHECK(trace.problem_count() == found.problems().total());
		CHECK(trace.problem_count() > 0);
		CHECK(trace.problems().size() == trace.problem_count());
	}
}

} // namespace test_poet_cursor
