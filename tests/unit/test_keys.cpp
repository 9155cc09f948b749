// SPDX-License-Identifier: MIT
// What rows are told apart by: absent values, labels, threads of several machines, numbers that are too large.
#include <catch2/catch.hpp>

#include <limits>

#include "filter_events.h"
#include "reading/activities/keys.h"
#include "reading/activities/rows.h"

namespace test_keys {

using namespace monitor::activities;
using samples::FilterEvents;
using CellKind = Cell::Kind;

namespace {

std::string bytes_of(const Keys &keys, const monitor::trace::Event &event, std::int64_t tid = 5)
{
	std::string bytes;
	keys.append(event, {tid, nullptr}, bytes);
	return bytes;
}

} // namespace

TEST_CASE("keys: an absent value is empty, differs from 0 and makes a key incomplete")
{
	FilterEvents events;
	const Keys keys({"pid"}, *events.description, FilterEvents::begin_time, "--by");
	std::string bytes;
	CHECK_FALSE(keys.append(events.event(257), {}, bytes));
	CHECK(keys.cells(events.event(257), {}).at(0).kind == CellKind::none);
	CHECK(keys.cells(events.event(257), {}).at(0).shown({}).empty());
	std::string zero;
	CHECK(keys.append(events.event(258, 0, {0, 0}), {}, zero));
	CHECK(bytes != zero);
	const Keys tid({"tid"}, *events.description, FilterEvents::begin_time, "--by");
	CHECK_FALSE(tid.append(events.event(257), {}, bytes));
}

TEST_CASE("keys: equal values give equal bytes, also of other classes; texts end where they end")
{
	FilterEvents events;
	const Keys ret({"ret"}, *events.description, FilterEvents::begin_time, "--by");
	const std::string small = bytes_of(ret, events.event(262, 0xfffe));
	CHECK(small == bytes_of(ret, events.event(260, 0, {std::uint64_t(-2)})));
	const Keys two({"comm", "other"}, *events.description, FilterEvents::begin_time, "--by");
	CHECK(bytes_of(two, events.event(257, 0, {'a', 0, 'b' << 8 | 'b'})) !=
	      bytes_of(two, events.event(257, 0, {'a' | 'b' << 8, 0, 'b'})));
}

TEST_CASE("keys: threads and CPUs are of their machine, other numbers are not")
{
	FilterEvents events;
	const Keys pid({"pid"}, *events.description, FilterEvents::begin_time, "--by"),
	    cpu({"cpu"}, *events.description, FilterEvents::begin_time, "--by"),
	    u({"u"}, *events.description, FilterEvents::begin_time, "--by");
	const auto both = [&](const Keys &keys) {
		events.stream.machine = 0;
		const std::string first = bytes_of(keys, events.event(258, 0, {7, 7}));
		events.stream.machine = 1;
		return std::pair(first, bytes_of(keys, events.event(258, 0, {7, 7})));
	};
	CHECK(both(pid).first != both(pid).second);
	CHECK(both(cpu).first != both(cpu).second);
	CHECK(both(u).first == both(u).second);
	ThreadTable people;
	people.set_machines({"one", "two"});
	CHECK(pid.cells(events.event(258, 0, {7, 7}), {}).at(0).shown(people) == "two:?-7");
	CHECK(cpu.cells(events.event(258, 0, {7, 7}), {}).at(0).shown(people) == "two:3");
	CHECK(u.cells(events.event(258, 0, {7, 7}), {}).at(0).shown(people) == "30064771072");
}

TEST_CASE("keys: devices are of their machine")
{
	FilterEvents events(samples::event_block(256, "request", "u16_t arg; u32_t dev; u32_t sector;"));
	const Keys dev({"dev"}, *events.description, FilterEvents::begin_time, "--by");
	const std::string first = bytes_of(dev, events.event(256, 0, {7}));
	events.stream.machine = 1;
	CHECK(bytes_of(dev, events.event(256, 0, {7})) != first);
}

TEST_CASE("keys: a label stands for its number")
{
	FilterEvents events;
	const Keys keys({"state"}, *events.description, FilterEvents::begin_time, "--by");
	CHECK(keys.cells(events.event(258, 1, {0, 0}), {}).at(0).shown({}) == "one");
	CHECK(keys.cells(events.event(258, 100, {0, 0}), {}).at(0).shown({}) == "100");
}

TEST_CASE("keys: numbers that do not fit become the greatest")
{
	FilterEvents events;
	std::int64_t value = 0;
	const Keys u({"u"}, *events.description, FilterEvents::begin_time, "--value"),
	    s({"s"}, *events.description, FilterEvents::begin_time, "--value");
	const auto &event = events.event(256, 0, {0, ~std::uint64_t(0), ~std::uint64_t(0), 0});
	CHECK(u.number(event, {}, value));
	CHECK(value == std::numeric_limits<std::int64_t>::max());
	CHECK(s.number(event, {}, value));
	CHECK(value == -1);
	CHECK_FALSE(u.number(events.event(257), {}, value));
}

TEST_CASE("keys: where only numbers are taken a text is none")
{
	FilterEvents events;
	const auto made = [&](const char *name, Keys::Takes takes) {
		return Keys({name}, *events.description, FilterEvents::begin_time, "--value", takes).names().size();
	};
	CHECK(made("u", Keys::Takes::numbers) == 1);
	CHECK(made("state", Keys::Takes::numbers) == 1); // of one class
	CHECK(made("comm", Keys::Takes::integers_and_texts) == 1);
	CHECK_THROWS_WITH(made("comm", Keys::Takes::numbers), "--value: comm is not a number; name one");
}

TEST_CASE("keys: time is ns since the begin")
{
	FilterEvents events;
	std::int64_t value = 0;
	const Keys time({"time"}, *events.description, FilterEvents::begin_time, "--value");
	CHECK(time.number(events.event(257), {}, value));
	CHECK(value == 1'500'000'000);
	CHECK(time.cells(events.event(257), {}).at(0).shown({}) == "1500000000");
}

TEST_CASE("keys: names that are not there, and empty ones, are refused with a sentence")
{
	FilterEvents events;
	CHECK_THROWS_WITH(Keys({"comn"}, *events.description, FilterEvents::begin_time, "--by"),
			  Catch::Contains("--by: no event") && Catch::Contains("comm"));
	CHECK_THROWS_WITH(split_names("a,,b", "--by"), "--by: a name is missing in \"a,,b\"");
	CHECK(split_names("", "--by").empty());
	CHECK(split_names(" a , b.c", "--by") == std::vector<std::string>{"a", "b.c"});
}

TEST_CASE("rows: processes are joined, what there is no room for is counted")
{
	ThreadTable people;
	people.belongs(0, 11, 10);
	Rows rows;
	for (const std::uint64_t tid : {10u, 11u, 12u}) {
		Cell cell;
		cell.kind = CellKind::process;
		cell.bits = tid;
		rows.find(std::to_string(tid), [&] { return std::vector{cell}; })->values.add(1);
	}
	rows.join_processes(people);
	CHECK(rows.all().size() == 2);
	Rows full;
	const auto cells = [] { return std::vector<Cell>(); };
	for (std::size_t i = 0; i < Rows::max_rows + 5; ++i)
		if (DistributionRow *row = full.find(std::to_string(i), cells))
			row->values.add(1);
	CHECK(full.left_out() == 5);
	Rows other;
	for (int i = 0; i < 7; ++i)
		other.find("other", cells)->values.add(1);
	full.merge(other);
	CHECK(full.left_out() == 12);
	CHECK(full.all().size() == Rows::max_rows);
}

} // namespace test_keys
