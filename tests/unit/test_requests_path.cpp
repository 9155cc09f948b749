// SPDX-License-Identifier: MIT
// Paths of requests over hosts whose true times are known: what is printed holds for them, whatever the clocks do
// within their bounds.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "answers/requests/host_times.h"
#include "answers/requests/path.h"

namespace test_requests_path {

using namespace monitor;
using requests::KeyedEvent;
using requests::Path;
using requests::Point;

namespace {

constexpr std::uint64_t epoch = 1'700'000'000'000'000'000;

// An event of each of up to four hosts has a point of its own: its true time is found by the event.
struct World {
	std::vector<Point> points;
	std::vector<trace::MachineClock> clocks;
	std::vector<std::int64_t> off;        // of each host's clock, in ns
	std::vector<std::int64_t> own_parts;  // its own rate: off by this, in parts per million
	std::vector<std::int64_t> true_times; // by point
	trace::Clock clock;

	void host(std::optional<std::uint64_t> bound, std::int64_t off_ns, std::int64_t ppm = 0)
	{
		clocks.emplace_back(bound);
		off.push_back(off_ns);
		own_parts.push_back(ppm);
	}
	KeyedEvent event(std::uint32_t machine, std::int64_t true_ns)
	{
		points.push_back({machine, "e" + std::to_string(points.size())});
		true_times.push_back(true_ns);
		const std::int64_t own = true_ns + true_ns * own_parts[machine] / 1'000'000;
		return {epoch + static_cast<std::uint64_t>(true_ns + off[machine]),
			static_cast<std::uint64_t>(77 + own), static_cast<std::uint32_t>(points.size() - 1), machine};
	}
	Path path(std::vector<KeyedEvent> events) const
	{
		std::ranges::stable_sort(events, {}, &KeyedEvent::time);
		return requests::PathMaker(points, clocks, clock).path(events);
	}
	std::int64_t true_ns(const KeyedEvent &event) const { return true_times[event.point]; }
};

// The longest true time without an event between these two times.
std::int64_t longest_gap(const World &world, std::int64_t from, std::int64_t to)
{
	std::vector<std::int64_t> times = world.true_times;
	std::ranges::sort(times);
	std::int64_t longest = 0;
	for (std::size_t i = 0; i + 1 < times.size(); ++i)
		if (times[i] >= from && times[i + 1] <= to)
			longest = std::max(longest, times[i + 1] - times[i]);
	return longest;
}

struct Seen {
	std::size_t known_order = 0, unknown_order = 0, sure = 0, unsure = 0, unknown_time = 0, negative = 0;
};

bool is_within(const requests::Elapsed &elapsed, std::int64_t true_ns, std::int64_t slack = 0)
{
	return !elapsed.is_known() ||
	       std::abs(elapsed.ns - true_ns) <= static_cast<std::int64_t>(*elapsed.bound_ns) + slack;
}

void judge(const World &world, const Path &path, Seen &seen)
{
	const auto time = [&](std::size_t i) { return world.true_ns(path.events[i]); };
	std::map<std::uint32_t, std::int64_t> last; // by host
	for (const KeyedEvent &event : path.events) {
		const auto [place, is_new] = last.try_emplace(world.points[event.point].machine, world.true_ns(event));
		REQUIRE((is_new || place->second <= world.true_ns(event)));
		place->second = world.true_ns(event);
	}
	for (std::size_t i = 0; i < path.steps.size(); ++i) {
		const requests::Step &step = path.steps[i];
		REQUIRE(is_within(step.time, time(i + 1) - time(i)));
		seen.unknown_time += !step.time.is_known();
		seen.negative += step.time.is_known() && step.time.ns < 0;
		++(step.is_order_known ? seen.known_order : seen.unknown_order);
		if (!step.is_order_known)
			continue;
		REQUIRE(time(i) <= time(i + 1));
		REQUIRE(longest_gap(world, time(i), time(i + 1)) >= static_cast<std::int64_t>(step.sure_ns));
	}
	REQUIRE(is_within(path.total, time(path.events.size() - 1) - time(0)));
	++(path.is_largest_sure ? seen.sure : seen.unsure);
	if (!path.is_largest_sure)
		return;
	const std::int64_t all = longest_gap(world, 0, 1'000'000'000);
	REQUIRE(longest_gap(world, time(*path.largest), time(*path.largest + 1)) == all);
}

} // namespace

TEST_CASE("requests: whatever the true times are, what a path says of them holds")
{
	std::mt19937_64 random(20);
	const auto number = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
	Seen seen;
	for (int round = 0; round < 20'000; ++round) {
		World world;
		const std::int64_t hosts = 1 + number(3), bounds = number(1) ? 50 : 2000;
		for (std::int64_t i = 0; i < hosts; ++i) {
			const std::int64_t bound = number(bounds);
			if (number(9) == 0)
				world.host(std::nullopt, number(20'000) - 10'000);
			else
				world.host(bound, number(2 * bound) - bound);
		}
		std::vector<KeyedEvent> events;
		const std::int64_t count = 1 + number(8);
		for (std::int64_t i = 0; i < count; ++i)
			events.push_back(
			    world.event(static_cast<std::uint32_t>(number(hosts - 1)), 20'000 + number(10'000)));
		judge(world, world.path(events), seen);
	}
	CHECK(seen.known_order > 10'000);
	CHECK(seen.unknown_order > 10'000);
	CHECK(seen.sure > 3000);
	CHECK(seen.unsure > 3000);
	CHECK(seen.unknown_time > 1000);
	CHECK(seen.negative > 100);
}

TEST_CASE("requests: the time within a host is exact, and a long one is surely the largest")
{
	World world;
	world.host(40'000, 0);
	world.host(40'000, -60'000); // seems to be earlier than it is
	std::vector<KeyedEvent> events = {world.event(0, 1'000'000),  world.event(0, 1'100'000),  // begin, send
					  world.event(1, 1'130'000),  world.event(1, 51'130'000), // query, done
					  world.event(0, 51'160'000), world.event(0, 51'200'000)};
	const Path path = world.path(events); // the query's time is before that of the sending
	std::vector<std::uint32_t> order;
	for (const KeyedEvent &event : path.events)
		order.push_back(event.point);
	CHECK(order == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
	CHECK(path.steps[1].time.ns == -30'000);
	CHECK(path.steps[1].time.bound_ns == 80'000);
	CHECK_FALSE(path.steps[1].is_order_known);
	CHECK_FALSE(path.is_order_known);
	REQUIRE(path.largest == 2);
	CHECK(path.steps[2].time.is_exact);
	CHECK(path.steps[2].time.ns == 50'000'000);
	CHECK(path.steps[2].sure_ns >= 49'800'000);
	CHECK(path.steps[2].is_order_known);
	CHECK(path.is_largest_sure);
	CHECK(path.total.is_exact);
	CHECK(path.total.ns == 50'200'000);
}

TEST_CASE("requests: an order that the clocks know is kept, and so are visits that are known to be several")
{
	World world;
	world.host(10, 0);
	world.host(10, 0);
	const Path path =
	    world.path({world.event(0, 1000), world.event(1, 2000), world.event(0, 3000), world.event(1, 4000)});
	for (std::uint32_t i = 0; i < 4; ++i)
		CHECK(path.events[i].point == i);
	CHECK(path.is_order_known);
	for (const requests::Step &step : path.steps) {
		CHECK(step.time.ns == 1000);
		CHECK(step.time.bound_ns == 20);
		CHECK(step.sure_ns == 980);
	}
	CHECK_FALSE(path.is_largest_sure); // they are alike
}

TEST_CASE("requests: without a bound the time between hosts is unknown, and the order")
{
	World world;
	world.host(0, 0);
	world.host(std::nullopt, 5'000'000);
	const Path path =
	    world.path({world.event(0, 1000), world.event(1, 2000), world.event(1, 3000), world.event(0, 9000)});
	REQUIRE(path.steps.size() == 3);
	CHECK(path.events[1].point == 3); // the other host's come last, by its clock
	CHECK(path.steps[0].time.is_exact);
	CHECK_FALSE(path.steps[0].is_order_known); // they may have been in between
	CHECK_FALSE(path.steps[1].time.is_known());
	CHECK_FALSE(path.steps[2].is_order_known);
	CHECK_FALSE(path.total.is_known());
	CHECK_FALSE(path.is_largest_sure);
}

TEST_CASE("requests: there and back between two hosts takes what both clocks say, even if nothing relates them")
{
	std::mt19937_64 random(5);
	const auto number = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
	std::size_t by_bounds = 0, by_clocks = 0;
	for (int round = 0; round < 5000; ++round) {
		World world;
		world.host(0, 0, number(800) - 400);
		const std::int64_t bound = number(1) ? 50 : 50'000;
		if (number(1))
			world.host(bound, number(2 * bound) - bound, number(800) - 400);
		else
			world.host(std::nullopt, number(200'000) - 100'000, number(800) - 400);
		std::int64_t at = 1'000'000, crossed = 0, within[2] = {};
		std::vector<KeyedEvent> events = {world.event(0, at)};
		for (std::int64_t trip = number(2); trip >= 0; --trip) { // longer than the clocks are off
			const std::int64_t there = 250'000 + number(100'000), back = 250'000 + number(100'000),
					   inside = number(50'000'000);
			events.push_back(world.event(1, at += there));
			events.push_back(world.event(1, at += inside));
			events.push_back(world.event(0, at += back));
			crossed += there + back;
			within[1] += inside;
		}
		const Path path = world.path(events);
		const requests::PathMaker maker(world.points, world.clocks, world.clock);
		const auto times = requests::host_times(path, maker);
		REQUIRE(times.size() == 2);
		REQUIRE((times[0].host == 0 && times[0].other == 1 && times[1].host == 1 && times[1].other == 1));
		REQUIRE(times[0].time.is_known());
		REQUIRE(is_within(times[0].time, crossed));
		REQUIRE(*times[0].time.bound_ns < 250'000 * 3);
		REQUIRE(times[1].time.is_exact);
		REQUIRE(std::abs(times[1].time.ns - within[1]) <= within[1] / 2500 + 3);
		++(*times[0].time.bound_ns <= 300 ? by_bounds : by_clocks);
	}
	CHECK(by_bounds > 500);
	CHECK(by_clocks > 500);
}

TEST_CASE("requests: between two clocks of one host the time is unknown, not exact")
{
	World world;
	world.host(0, 0);
	KeyedEvent first = world.event(0, 1000), second = world.event(0, 3000);
	const Path same = world.path({first, second});
	CHECK(same.steps[0].time.is_exact);
	CHECK(same.steps[0].time.ns == 2000);
	second.clock = first.clock + 1;
	const Path other = world.path({first, second});
	CHECK_FALSE(other.steps[0].time.is_exact);
	CHECK_FALSE(other.steps[0].time.is_known());
}

TEST_CASE("requests: one way between hosts without a bound is unknown")
{
	World world;
	world.host(0, 0);
	world.host(std::nullopt, 0);
	const Path path = world.path({world.event(0, 1000), world.event(1, 2000), world.event(1, 2500)});
	const requests::PathMaker maker(world.points, world.clocks, world.clock);
	const auto times = requests::host_times(path, maker);
	REQUIRE(times.size() == 2);
	CHECK_FALSE(times[0].time.is_known());
	CHECK(times[1].time.ns == 500);
}

} // namespace test_requests_path
