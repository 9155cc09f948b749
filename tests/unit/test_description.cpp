// SPDX-License-Identifier: MIT
// The model: clock arithmetic, enumerations, and where fields lie and how they are read.
#include <catch2/catch.hpp>

#include <limits>

#include "reading/events/field_ref.h"
#include "samples.h"

namespace test_description {

using namespace monitor::trace;

namespace {

constexpr std::uint64_t max_u64 = std::numeric_limits<std::uint64_t>::max();

// An event of class `id` whose record ends with the buffer's end.
struct Record {
	Record(const Description &description, unsigned id, std::vector<std::uint64_t> record_words)
	    : words(std::move(record_words))
	{
		event.cls = description.by_id(id);
		event.data = reinterpret_cast<const std::byte *>(words.data());
		REQUIRE(event.cls);
		REQUIRE(event.cls->size_bytes == words.size() * 8);
	}
	template <class T> T get(const char *field) const { return FieldRef(*event.cls, field).get<T>(event); }

	std::vector<std::uint64_t> words;
	Event event;
};

} // namespace

TEST_CASE("clock: ticks to nanoseconds and back is the identity")
{
	Clock clock;
	clock.frequency_hz = 2596000000;
	CHECK(clock.to_ns(0) == 0);
	CHECK(clock.to_ns(2596000000) == 1000000000);
	CHECK(clock.to_ns(2595999999) == 999999999);
	CHECK(clock.to_ticks(1000000000) == 2596000000);
	for (std::uint64_t ns : {1u, 2u, 3u, 999u, 123456789u})
		CHECK(clock.to_ns(clock.to_ticks(ns)) == ns);
	clock.frequency_hz = 1;
	CHECK(clock.to_ns(max_u64) == max_u64);
	clock.frequency_hz = max_u64;
	CHECK(clock.to_ticks(max_u64) == max_u64);
}

TEST_CASE("clock: times before another are negative and rounded down, and the first one of a nanosecond is found again")
{
	Clock clock;
	clock.frequency_hz = 300'000'000; // 3.3 ns a tick
	CHECK(clock.since_ns(3000, 3004) == 13);
	CHECK(clock.since_ns(3000, 2999) == -4);
	CHECK(clock.since_ns(3000, 2997) == -10);
	for (const std::int64_t ns : {-11, -10, -9, -4, -3, -1, 0, 1, 3, 4, 10}) {
		const std::uint64_t time = clock.from_since_ns(3000, ns);
		CHECK(clock.since_ns(3000, time) >= ns);
		CHECK(clock.since_ns(3000, time - 1) < ns);
	}
	constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
	CHECK(clock.since_ns(0, max_u64) == most);
	CHECK(clock.since_ns(max_u64, 0) == -most);
	CHECK(clock.from_since_ns(5, std::numeric_limits<std::int64_t>::min()) == 0);
	CHECK(clock.from_since_ns(max_u64, most) == max_u64);
}

TEST_CASE("clock: wall time is clamped to what 64 bits hold")
{
	Clock clock;
	clock.offset_s = 1700000000;
	clock.offset = 5;
	CHECK(clock.wall_ns(0) == 1700000000000000005);
	CHECK(clock.from_wall_ns(1700000000000000005) == 0);
	CHECK(clock.from_wall_ns(1700000000000000105) == 100);
	CHECK(clock.from_wall_ns(5) == 0);
	CHECK(clock.wall_ns(max_u64) == std::numeric_limits<std::int64_t>::max());
	clock.offset_s = -(std::int64_t(1) << 62);
	CHECK(clock.wall_ns(0) == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("clock: times of day before and after the system's clock was set")
{
	Clock clock;
	clock.offset_s = 1700000000;
	const std::int64_t zero = 1700000000000000000;
	clock.steps = {{100, 1000}, {200, -50}, {300, 7}};
	CHECK(clock.wall_ns(99) == zero + 99 - 957);
	CHECK(clock.wall_ns(100) == zero + 100 + 43);
	CHECK(clock.wall_ns(200) == zero + 200 - 7);
	CHECK(clock.wall_ns(300) == zero + 300);
	CHECK(clock.from_wall_ns(zero - 957 + 10) == 10);
	CHECK(clock.from_wall_ns(zero) == 100);       // the clock was set past it
	CHECK(clock.from_wall_ns(zero + 200) == 157); // comes again at 207: the first
	CHECK(clock.from_wall_ns(zero + 243) == 250); // the last before it was set back is 242
	CHECK(clock.from_wall_ns(zero + 1000) == 1000);
	for (const std::uint64_t time : {0, 99, 100, 199, 250, 299, 300, 1000}) {
		const std::uint64_t first = clock.from_wall_ns(clock.wall_ns(time));
		CHECK(first <= time);
		CHECK(clock.wall_ns(first) == clock.wall_ns(time));
	}
	CHECK(parse_steps("100+1000 200-50 300+7") == clock.steps);
	CHECK(parse_steps("") == std::vector<RealTimeStep>());
	for (const char *malformed : {"x", "5", "5+", "5*6", "5+6 ", "5+6 7", "5+6  7+8", "5+6,7+8", "7+6 7+8",
				      "7+6 5+8", "-5+6", "18446744073709551616+1", "5+9223372036854775808"})
		CHECK(parse_steps(malformed) == std::nullopt);
}

TEST_CASE("enumeration: a value is found in ranges with and without sign")
{
	const Enumeration plain({{5, 5, "five"}, {0, 0, "zero"}, {10, 20, "some"}, {100000, max_u64, "many"}}, false);
	REQUIRE(plain.ok());
	CHECK(*plain.find(0) == "zero");
	CHECK(*plain.find(5) == "five");
	CHECK(*plain.find(10) == "some");
	CHECK(*plain.find(20) == "some");
	CHECK(plain.find(21) == nullptr);
	CHECK(plain.find(99999) == nullptr);
	CHECK(*plain.find(max_u64) == "many");

	const Enumeration negative({{0, 1, "up"}, {max_u64 - 4, max_u64, "down"}}, true);
	REQUIRE(negative.ok());
	CHECK(*negative.find(max_u64 - 1) == "down");
	CHECK(*negative.find(1) == "up");
	CHECK(negative.find(max_u64 - 5) == nullptr);
	CHECK(negative.find(2) == nullptr);

	CHECK_FALSE(plain.overlaps());
	CHECK_FALSE(Enumeration({{5, 0, "a"}}, false).ok());
}

TEST_CASE("enumeration: overlapping ranges give all their labels, in the order of the text")
{
	const Enumeration labels({{3, 9, "b"}, {0, 5, "a"}, {5, 5, "c"}, {max_u64, max_u64, "last"}}, false);
	REQUIRE(labels.ok());
	CHECK(labels.overlaps());
	CHECK(*labels.find(2) == "a");
	CHECK(*labels.find(3) == "b|a");
	CHECK(*labels.find(5) == "b|a|c");
	CHECK(*labels.find(6) == "b");
	CHECK(labels.find(10) == nullptr);
	CHECK(*labels.find(max_u64) == "last");

	const Enumeration negative({{max_u64 - 4, 4, "around"}, {0, 0, "zero"}}, true);
	REQUIRE(negative.ok());
	CHECK(*negative.find(max_u64) == "around");
	CHECK(*negative.find(0) == "around|zero");

	std::vector<Enumeration::Label> many;
	for (std::uint64_t i = 0; i < 2000; ++i)
		many.push_back({i, 5000, "quite a long label"});
	CHECK_FALSE(Enumeration(many, false).ok());
}

TEST_CASE("fields: every kind is read where it lies")
{
	const auto description = samples::description(
	    samples::event_block(300, "a", "u12_t id; abi_t abi; s32_t s; u16_t u; x16_t x; s64_t big;") +
	    samples::event_block(301, "b", "s16_t arg;") + samples::event_block(302, "c", "range_t arg; text_t t[8];") +
	    samples::event_block(303, "d", "u4_t low;"));
	const Record a(*description, 300,
		       {edc_token(300, 1, 7, 0x2abc), 0xbeef'1234'ffff'fffe, static_cast<std::uint64_t>(-5)});
	CHECK(a.get<std::uint64_t>("id") == 0xabc);
	CHECK(a.get<unsigned>("abi") == 2);
	CHECK(*FieldRef(*a.event.cls, "abi").label(a.event) == "x32");
	CHECK(a.get<int>("s") == -2);
	CHECK(a.get<std::int64_t>("s") == -2);
	CHECK(a.get<unsigned>("u") == 0x1234);
	CHECK(a.get<unsigned>("x") == 0xbeef);
	CHECK(a.get<std::int64_t>("big") == -5);
	CHECK(a.event.mode() == EDC_MODE_KERNEL);

	const Record b(*description, 301, {edc_token(301, 0, 7, 0xfff2)});
	CHECK(b.get<int>("arg") == -14);
	CHECK(b.event.mode() == EDC_MODE_USER);

	std::uint64_t text;
	std::memcpy(&text, "abcdefgh", 8);
	const Record full(*description, 302, {edc_token(302, 0, 7, 0xffff), text});
	CHECK(full.get<std::string_view>("t") == "abcdefgh");
	CHECK(*FieldRef(*full.event.cls, "arg").label(full.event) == "minus");
	const Record shorter(*description, 302, {edc_token(302, 0, 7, 1), text & 0xffffff});
	CHECK(shorter.get<std::string_view>("t") == "abc");
	CHECK(*FieldRef(*shorter.event.cls, "arg").label(shorter.event) == "one");

	// an alignment of one bit begins right after the mode
	const Record d(*description, 303, {edc_token(303, 1, 7, 0) | std::uint64_t(0xa) << 45});
	CHECK(d.get<unsigned>("low") == 0xa);
}

TEST_CASE("fields: one that is not there gives nothing")
{
	const auto description = samples::description();
	const Record tick(*description, 256, {max_u64});
	const FieldRef absent(*tick.event.cls, "absent");
	CHECK_FALSE(absent);
	CHECK(absent.get(tick.event) == 0);
	CHECK(absent.get<std::string_view>(tick.event).empty());
	CHECK(absent.label(tick.event) == nullptr);
	CHECK(FieldRef(*tick.event.cls, "arg"));
}

TEST_CASE("description: two classes may bear one name, not one id")
{
	auto description = samples::description(samples::event_block(300, "e", "u16_t a;") +
						samples::event_block(301, "e", "u16_t a; u64_t b;"));
	CHECK(description->find("e").size() == 2);
	CHECK(description->find("f").empty());
	Description own;
	EventClass cls;
	cls.id = 5;
	cls.size_bytes = 8;
	CHECK(own.add_token(cls));
	CHECK_FALSE(own.add_token(cls));
	cls.id = 0;
	CHECK_FALSE(own.add_token(cls));
	cls.id = 4096;
	CHECK_FALSE(own.add_token(cls));
}

} // namespace test_description
