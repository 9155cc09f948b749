// SPDX-License-Identifier: MIT
// What POET reports about a trace and about one event: classes, streams, the clock, values of every kind, and errors.
#include <catch2/catch.hpp>

#include <cmath>

#include "poet_samples.h"

namespace test_poet_values {

using namespace poet_samples;

namespace {

const std::string events = samples::event_block(256, "numbers", "s16_t arg; u64_t big; s64_t low; x64_t where;") +
			   samples::event_block(257, "named", "range_t arg; text_t name[8];") +
			   samples::event_block(258, "alone", "u16_t arg;");

std::vector<StreamWriter> some()
{
	std::vector<StreamWriter> writers = {{0xffffffff, 0}, {3, 1}};
	writers[0].open(1000);
	writers[0].post(1000, 258, 7);
	writers[1].open(2000);
	writers[1].post(2000, 256, 0xffff, {~std::uint64_t(0), std::uint64_t(1) << 63, 0xbeef}, EDC_MODE_USER);
	writers[1].post(3000, 257, 1, {0x0000'0064'6362'6120});
	writers[1].post(4000, 257, 200, {0});
	return writers;
}

} // namespace

TEST_CASE("poet: classes, fields and streams as the description has them")
{
	auto writers = some();
	const Directory directory(writers, events);
	const poet::Trace trace(directory.path());
	REQUIRE(trace.classes().size() == 3);
	const poet::EventClass &named = *trace.find("named").at(0);
	CHECK(trace.classes()[named.index].name == "named");
	CHECK(named.domain == poet::Domain::kernel);
	REQUIRE(named.find("arg"));
	CHECK(named.find("arg")->kind == poet::Kind::signed_integer);
	CHECK(named.find("arg")->labels.size() == 4);
	CHECK(named.find("arg")->labels[0].text == "minus");
	CHECK(static_cast<std::int64_t>(named.find("arg")->labels[0].first) == -3);
	CHECK(named.find("name")->kind == poet::Kind::text);
	CHECK_FALSE(named.find("big"));
	CHECK(trace.find("numbers").at(0)->find("where")->base == 16);
	CHECK(trace.find("nothing").empty());
	REQUIRE(trace.streams().size() == 2);
	CHECK_FALSE(trace.streams()[0].cpu);
	CHECK(trace.streams()[1].cpu == 3u);
	CHECK(trace.streams()[1].level == 1);
	CHECK(trace.streams()[1].size_bytes == 4096);
	CHECK_FALSE(trace.environment().empty());
	CHECK(trace.event_count() == 4);
	CHECK(trace.problems().empty());
}

TEST_CASE("poet: values by handle and by name, of the type asked for or empty")
{
	auto writers = some();
	const Directory directory(writers, events);
	const poet::Trace trace(directory.path());
	const poet::Field arg = trace.field("arg"), big = trace.field("big"), low = trace.field("low"),
			  name = trace.field("name"), where = trace.field("where");
	CHECK(arg.name() == "arg");
	poet::Cursor cursor(trace);

	cursor.next();
	CHECK(cursor.event().name() == "alone");
	CHECK_FALSE(cursor.event().cpu());
	CHECK(cursor.event().get<std::uint8_t>(arg) == 7);
	CHECK_FALSE(cursor.event().has(big));
	CHECK_FALSE(cursor.event().get<std::uint64_t>(big));
	CHECK(cursor.event().value(big) == poet::Value());
	CHECK(cursor.event().text_of(big).empty());

	cursor.next();
	const poet::Event &event = cursor.event();
	CHECK(event.cpu() == 3u);
	CHECK(event.level() == 1);
	CHECK(event.mode() == poet::Mode::user);
	CHECK(event.stream().index == 1);
	CHECK(event.get<std::int64_t>(arg) == -1);
	CHECK(event.get<std::int8_t>(arg) == -1);
	CHECK_FALSE(event.get<std::uint64_t>(arg));
	CHECK(event.get<std::uint64_t>(big) == ~std::uint64_t(0));
	CHECK_FALSE(event.get<std::int64_t>(big));
	CHECK_FALSE(event.get<std::uint32_t>(big));
	CHECK(event.get<std::int64_t>(low) == std::numeric_limits<std::int64_t>::min());
	CHECK_FALSE(event.get<double>(big));
	CHECK_FALSE(event.get<std::string_view>(big));
	CHECK(event.get<std::int64_t>("arg") == -1);
	CHECK_FALSE(event.get<std::uint64_t>("arg"));
	CHECK_FALSE(event.get<std::uint64_t>("name"));
	CHECK(event.has("big"));
	CHECK_FALSE(event.has("name"));
	CHECK(event.text_of(where) == "0xbeef");
	CHECK(event.value(arg) == poet::Value(std::int64_t(-1)));
	CHECK(event.value(big) == poet::Value(~std::uint64_t(0)));
	CHECK(event.value(std::size_t(1)) == poet::Value(~std::uint64_t(0)));
	CHECK(event.value(std::size_t(99)) == poet::Value());
	CHECK(event.values(big).empty());
	CHECK(event.to_text() == "numbers arg=-1 big=18446744073709551615 low=-9223372036854775808 where=0xbeef");

	cursor.next();
	CHECK(cursor.event().get<std::string_view>(name) == " abcd");
	CHECK(cursor.event().label(arg) == "one");
	CHECK(cursor.event().label(name).empty());
	CHECK(cursor.event().mode() == poet::Mode::kernel);
	CHECK(cursor.event().to_text() == "named arg=one name=\" abcd\"");
	cursor.next();
	CHECK(cursor.event().get<std::string_view>(name) == "");
	CHECK(cursor.event().label(arg).empty());
	CHECK(cursor.event().text_of(arg) == "200");

	const poet::Trace other(directory.path());
	CHECK_FALSE(cursor.event().get<int>(other.field("arg")));
}

TEST_CASE("poet: errors are one sentence")
{
	auto writers = some();
	const Directory directory(writers, events);
	const poet::Trace trace(directory.path());
	CHECK_THROWS_WITH(poet::Trace("/nowhere"), Catch::Contains("there is no trace /nowhere"));
	CHECK_THROWS_WITH(trace.field("bgi"),
			  Catch::Contains("has a field \"bgi\"") && Catch::Contains("Did you mean big"));
	CHECK_FALSE(trace.find_field("bgi"));
	CHECK(trace.find_field("big"));
	CHECK_THROWS_AS(poet::Filter(trace, "bgi == 1"), poet::Error);
	CHECK_THROWS_WITH(poet::Filter(trace, "big =="), Catch::Contains("column"));
	CHECK_THROWS_WITH(trace.clock().parse("noon"), Catch::Contains("the time noon is not a time"));
	const poet::Filter filter(trace, "big > 5");
	CHECK(filter.can_match(*trace.find("numbers").at(0)));
	CHECK_FALSE(filter.can_match(*trace.find("alone").at(0)));
}

TEST_CASE("poet: the clock's arithmetic and texts")
{
	::setenv("TZ", "UTC", 1);
	::tzset();
	const poet::Clock clock("c", 300'000'000, 1'700'000'000, 0, 3000, 900'000'000); // 10/3 ns
	CHECK(clock.tick_ns() == Approx(10.0 / 3));
	CHECK(clock.to_ns(3) == 10);
	CHECK(clock.to_ticks(11) == 4);
	CHECK(clock.since_begin_ns(3004) == 13);
	CHECK(clock.since_begin_ns(2999) == -4);
	CHECK(clock.since_begin_ns(2997) == -10);
	for (const std::int64_t ns : {-9999, -14, -10, -1, 0, 1, 9, 10, 12345}) {
		const std::uint64_t time = clock.from_begin_ns(ns);
		CHECK(clock.since_begin_ns(time) >= ns);
		CHECK((time == 0 || clock.since_begin_ns(time - 1) < ns));
	}
	CHECK(clock.from_begin_ns(std::numeric_limits<std::int64_t>::min()) == 0);
	CHECK(clock.from_begin_ns(std::numeric_limits<std::int64_t>::max()) > 1u << 30);
	CHECK(clock.text(3000 + 450'000'003) == "1.500000010");
	CHECK(clock.text(3000 + 450'000'003, poet::Resolution::milliseconds) == "1.500");
	CHECK(clock.text(3000 + 450'000'003, poet::Resolution::seconds) == "1");
	CHECK(clock.text(0) == "-0.000010000");
	CHECK(clock.wall_ns(300'000'000) == 1'700'000'001'000'000'000);
	CHECK(clock.from_wall_ns(1'700'000'001'000'000'000) == 300'000'000);
	CHECK(clock.wall_text(450'000'000, poet::Resolution::microseconds) == "2023-11-14 22:13:21.500000");
	CHECK(clock.parse("0.5") == 150'003'000);
	CHECK(clock.parse("2023-11-14 22:13:21") == 300'000'000);
}

} // namespace test_poet_values
