// SPDX-License-Identifier: MIT
// Collections: clocks moved in the text of a description, and offsets from messages.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "answers/collection/clock_text.h"
#include "answers/collection/messages.h"
#include "base/error.h"
#include "samples.h"

namespace test_collection {

using namespace monitor;
using collection::Messages;

namespace {

trace::Clock clock_of(const std::string &text)
{
	std::string why;
	const auto description = trace::read_description(text, why);
	INFO(why);
	REQUIRE(description);
	return description->clock;
}

std::string with_clock(const std::string &clock)
{
	return clock + samples::types + samples::trace_block + samples::stream_block + samples::some_events;
}

} // namespace

TEST_CASE("collection: a clock is moved by whole ticks, and nothing else of the text changes")
{
	for (const char *clock : {"clock { name = tsc; freq = 1000000000; offset_s = 1700000000; offset = 5; };",
				  "clock { name = tsc; offset = 1700000000000000005; };", "clock { name = tsc; };",
				  "clock {\n\tname = tsc; /* offset = 3; */\n\toffset_s = -5;\n};"}) {
		const std::string text = with_clock(clock);
		const std::int64_t before = clock_of(text).wall_ns(1000);
		for (const std::int64_t shift :
		     {0ll, 1ll, -1ll, 999'999'999ll, -2'500'000'000ll, 86'400'000'000'000ll}) {
			const std::string moved = collection::shifted_clocks(text, shift);
			INFO(moved.substr(0, 120));
			CHECK(clock_of(moved).wall_ns(1000) == before + shift);
			CHECK(moved.substr(moved.find("typealias")) == text.substr(text.find("typealias")));
		}
	}
	const std::string slow = with_clock("clock { name = tsc; freq = 1000; offset = 7; };");
	CHECK(clock_of(collection::shifted_clocks(slow, 2'400'000)).offset == 9);
	CHECK(clock_of(collection::shifted_clocks(slow, -2'600'000)).offset == 4);
	CHECK_THROWS_AS(collection::shifted_clocks("clock {", 1), Error);
}

TEST_CASE("collection: messages both ways bound an offset, messages one way do not")
{
	const trace::Clock clock; // of ns
	Messages first, other;    // the other's clock is 1000 behind; messages take 30 there and 50 back
	first.sent = {{"1", {0, 5000}}, {"2", {0, 6000}}, {"lost", {0, 1}}};
	other.received = {{"1", {0, 4030}}, {"2", {0, 5040}}};
	auto exchanged = collection::exchanged(first, clock, other);
	CHECK(exchanged.forth == 2);
	CHECK(exchanged.back == 0);
	CHECK(collection::offset_of(exchanged.samples, clock).shift_ns == 970);
	CHECK_FALSE(collection::offset_of(exchanged.samples, clock).bound_ns);
	CHECK(collection::contradiction_ns(exchanged.samples, clock, 970) == 0);
	CHECK(collection::contradiction_ns(exchanged.samples, clock, 900) == 70);

	other.sent = {{"3", {0, 7000}}};
	first.received = {{"3", {0, 8050}}};
	exchanged = collection::exchanged(first, clock, other);
	CHECK(exchanged.back == 1);
	CHECK(collection::contradiction_ns(exchanged.samples, clock, 1060) == 10);
	const auto lines = collection::lines_of(exchanged.samples, {});
	REQUIRE(lines.has_bound());
	const auto offset = collection::offset_of(lines, clock, {5040, 7000});
	REQUIRE(offset.bound_ns);
	CHECK(*offset.bound_ns >= 40);
	CHECK(*offset.bound_ns < 60); // rates may differ, and times are rounded
	CHECK(std::abs(offset.shift_ns - 1010) < 15);

	first.received = {{"3", {0, 7900}}};
	CHECK_FALSE(collection::lines_of(collection::exchanged(first, clock, other).samples, {}).has_bound());
}

TEST_CASE("collection: an offset instead of lines covers how far they are from it")
{
	collection::ClockLines lines;
	lines.nodes = {{1000, 2000}, {2000, 3200}, {3000, 4100}};
	lines.bounds_ns = {std::nullopt, 10, 30, std::nullopt};
	lines.windows = 2;
	const auto offset = collection::offset_of(lines, trace::Clock(), {1000, 3000});
	CHECK(offset.shift_ns == 1100);
	CHECK(offset.bound_ns == 30u + 100 + 1);
	CHECK_FALSE(collection::offset_of(lines, trace::Clock(), {999, 3000}).bound_ns);
	CHECK_FALSE(collection::offset_of(lines, trace::Clock(), {1000, 3001}).bound_ns);
	lines.infeasible = 1;
	CHECK_FALSE(collection::offset_of(lines, trace::Clock(), {1000, 3000}).bound_ns);
}

} // namespace test_collection
