// SPDX-License-Identifier: MIT
// FDL: what an expression means for an event.
#include <catch2/catch.hpp>

#include "filter_events.h"
#include "monitor/card.h"
#include "reading/filter/text_match.h"

namespace test_filter {

using monitor::filter::Running;
using samples::FilterEvents;
using samples::StreamWriter;

namespace {

const std::vector<std::string> none;
constexpr unsigned numbers = 256, texts = 257, labels = 258, call = 259, long_call = 260, clash = 261, ret_small = 262,
		   two_words = 264;

std::uint64_t word(std::int64_t value)
{
	return static_cast<std::uint64_t>(value);
}

// The payload of `numbers`: 16 bits, then u, s and address, none of them aligned to a word.
std::vector<std::uint64_t> payload(std::uint64_t u, std::uint64_t s, std::uint64_t address)
{
	std::vector<std::uint64_t> words(4);
	const auto *in = reinterpret_cast<const std::byte *>(words.data());
	std::byte *out = const_cast<std::byte *>(in) + 2;
	for (const std::uint64_t value : {u, s, address}) {
		std::memcpy(out, &value, sizeof value);
		out += sizeof value;
	}
	return words;
}

} // namespace

TEST_CASE("filter: comparisons of signed and unsigned numbers are exact")
{
	FilterEvents events;
	events.event(numbers, 0xfffe, payload(~0ull, word(-1), 5)); // small = -2
	CHECK(events.failing({"small == -2",
			      "small < 0",
			      "small <= -2",
			      "small != 65534",
			      "s == -1",
			      "u != -1",
			      "u > -1",
			      "u == 18446744073709551615",
			      "u == 0xffffffffffffffff",
			      "u > 9223372036854775807",
			      "s < u",
			      "u > s",
			      "u != s",
			      "small < s",
			      "s != 0xffffffffffffffff",
			      "s > small",
			      "-2 == small",
			      "0 > small",
			      "-3 < small",
			      "-2 >= small",
			      "address == 0b101",
			      "address == 5",
			      "-9223372036854775808 < s"}) == none);
	CHECK(events.holding({"small == 65534", "small > 0", "s == 18446744073709551615", "u == -1", "u < 0", "u <= -1",
			      "u == s", "s > u", "u < s", "small == s", "u != 0xffffffffffffffff"}) == none);
}

TEST_CASE("filter: what a field's size rules out is no test any more")
{
	const FilterEvents events;
	CHECK_FALSE(events.can_match("u == -1", numbers));
	CHECK_FALSE(events.can_match("u < 0", numbers));
	CHECK_FALSE(events.can_match("small > 32767", numbers));
	CHECK(events.can_match("small > 32766", numbers));
	CHECK_FALSE(events.can_match("not (u >= 0)", numbers));
	CHECK(events.can_match("not (u >= 0)", call));
}

TEST_CASE("filter: fractions compare exactly with integers")
{
	FilterEvents events;
	events.event(numbers, 0xfffe, payload(~0ull, 7, 0)); // small = -2
	CHECK(events.failing({"small < -1.5", "small > -2.5", "small >= -2.5", "small <= -1.5", "small == -2.0",
			      "s > 6.999", "s < 7.000000000000000000001", "s in {6.5..7.5}", "s != 7.5",
			      "u > 18446744073709551614.5", "7.5 > s", "s in {7.0}"}) == none);
	CHECK(events.holding({"s == 7.5", "s > 7.5", "s in {7.25..7.75}", "s in {7.5}", "small < -2.5", "s >= 7.1"}) ==
	      none);
}

TEST_CASE("filter: precedence, from or to unary minus")
{
	FilterEvents events;
	events.event(numbers, 6, payload(6, 6, 6));
	CHECK(events.failing({"u == 6 or u == 1 and u == 2",
			      "not u == 1",
			      "not u == 1 and u == 6",
			      "u & 4 == 4",
			      "u | 1 == 7",
			      "u ^ 2 & 3 == 4",
			      "u | 8 ^ 12 == 6",
			      "u << 1 + 1 == 24",
			      "u + 2 * 3 == 12",
			      "(u + 2) * 3 == 24",
			      "u - 1 - 1 == 4",
			      "24 / u / 2 == 2",
			      "24 / (u / 2) == 8",
			      "-u == -6",
			      "-u + 7 == 1",
			      "- -u == 6",
			      "u % 4 * 2 == 4",
			      "u & 3 << 1 == 6",
			      "!(u == 1) && !(u == 2) || u == 3",
			      "not not u == 6",
			      "(u == 6)",
			      "((u) == (6))",
			      "u == 2 * 3",
			      "u == 1 << 2 | 2",
			      "u*2==12",
			      "6==u"}) == none);
	CHECK_FALSE(events.matches("(u == 6 or u == 1) and u == 2"));
	CHECK_FALSE(events.matches("not (u == 1 or u == 6)"));
}

TEST_CASE("filter: arithmetic is that of integers, and has no value where 64 bits end")
{
	FilterEvents events;
	events.event(numbers, 0, payload(~0ull, word(-7), 1ull << 63));
	CHECK(events.failing({"s / 2 == -3", "s % 2 == -1", "s >> 1 == -4", "s & 15 == 9", "s | 1 == -7", "s ^ s == 0",
			      "u - 1 == 18446744073709551614", "s * -1 == 7", "s + u == 18446744073709551608",
			      "address - u == -9223372036854775807", "s << 60 == -8070450532247928832",
			      "u & s == u - 6", "u / 2 == 9223372036854775807", "u % 10 == 5",
			      "0 - address == -9223372036854775808"}) == none);
	// no value: neither this nor its opposite
	for (const char *none : {"u + 1", "s / (u - u)", "s % (u - u)", "u * 2", "u * u", "s << 64", "s << -s * 10",
				 "s << s", "u >> 64", "address * s", "u << 1", "-address - 1", "u ^ s", "s - u"}) {
		const std::string value = none;
		CAPTURE(value);
		CHECK_FALSE(events.matches(value + " == 0"));
		CHECK_FALSE(events.matches(value + " != 0"));
		CHECK(events.matches("not (" + value + " != 0)"));
		CHECK_FALSE(events.matches(value + " in {0..1}"));
		CHECK_FALSE(events.matches(value + " not in {0..1}"));
		CHECK_FALSE(events.matches(value + " != u"));
	}
}

TEST_CASE("filter: a number is in a set by value or range, bounds included")
{
	FilterEvents events;
	for (const auto &[value, is_in] : {std::pair{11, false},
					   {12, true},
					   {13, false},
					   {99, false},
					   {100, true},
					   {150, true},
					   {200, true},
					   {201, false},
					   {-5, true},
					   {-4, true},
					   {-6, false},
					   {300, true}}) {
		events.event(numbers, 0, payload(0, word(value), 0));
		CAPTURE(value);
		CHECK(events.matches("s in {12, 100..200, -5..-4, 150..160, 3 * 100}") == is_in);
		CHECK(events.matches("s not in {12, 100..200, -5..-4, 300}") == !is_in);
		CHECK(events.matches("s + 0 in {12, 100..200, -5..-4, 300}") == is_in);
		CHECK(events.matches("not (s in {12, 100..200, -5..-4, 300})") == !is_in);
	}
	events.event(numbers, 0, payload(~0ull, 0, 0));
	CHECK(events.matches("u in {1, 18446744073709551615}"));
	CHECK(events.matches("u in {-1..18446744073709551615}"));
	CHECK_FALSE(events.matches("u in {-1}"));
	CHECK(events.matches("s in {-9223372036854775808..18446744073709551615}"));
}

TEST_CASE("filter: texts compare byte by byte")
{
	FilterEvents events;
	events.event(texts, 0, {FilterEvents::word("make"), 0, FilterEvents::word("make")});
	CHECK(events.failing({R"(comm == "make")", R"("make" == comm)", R"(comm != "Make")", R"(comm < "maker")",
			      R"(comm >= "make")", R"(comm > "MAKE")", R"(comm in {"cc", "make"})", R"("z" > comm)",
			      R"(comm in {"a".."n"})", R"(comm not in {"cc", "n".."z"})", R"(comm == "\x6dake")",
			      "comm == other", "comm >= other", "not (comm != other)", R"(comm !~ "cc*")"}) == none);
	CHECK(events.holding({R"(comm == "mak")", R"(comm == "make\x00")", R"(comm == "")", "comm != other",
			      R"(comm in {"n".."z"})", "comm < other", R"(comm !~ "m*")", R"(comm == "make\n")"}) ==
	      none);
	events.event(texts, 0, {FilterEvents::word("a\"\\\n\t"), 0, 0});
	CHECK(events.matches(R"(comm == "a\"\\\n\t")"));
}

TEST_CASE("filter: a glob matches the whole text")
{
	using monitor::filter::matches_glob;
	for (const char *pattern :
	     {"kworker/0:1-ev", "*", "k*", "*ev", "k*:*ev", "*work*", "k?orker/?:?-ev", "**", "*k*v*", "[a-z]*",
	      "[!a-j]*", "kworker/[0-9]*", "*[v]", "k*-[a-f]?", "*[-x]ev", "\\k*"}) {
		CAPTURE(pattern);
		CHECK(matches_glob(pattern, "kworker/0:1-ev"));
	}
	for (const char *pattern :
	     {"", "k", "kworker", "?", "*x", "k*z*", "[!k]*", "kworker/[a-z]*", "*e", "*v?", "[k", "\\*", "?worker"}) {
		CAPTURE(pattern);
		CHECK_FALSE(matches_glob(pattern, "kworker/0:1-ev"));
	}
	CHECK(matches_glob("", ""));
	CHECK(matches_glob("*", ""));
	CHECK_FALSE(matches_glob("?", ""));
	CHECK(matches_glob("[a", "[a"));
	CHECK(matches_glob("a\\", "a\\"));
	CHECK(matches_glob("[]-]", "-"));
	CHECK(matches_glob("[\x80-\xff]", "\xe4"));

	FilterEvents events;
	events.event(texts, 0, {FilterEvents::word("a*[b]?"), 0, 0});
	CHECK(events.matches(R"(comm ~ "a\\*\\[b]\\?")"));
	CHECK(events.matches(R"(comm ~ "a[*]?b[]]*")"));
	CHECK_FALSE(events.matches(R"(comm ~ "a\\*b*")"));
	events.event(texts, 0, {FilterEvents::word("aaaaaaaa"), FilterEvents::word("aaaaaaaa"), 0});
	CHECK_FALSE(events.matches(R"(comm ~ "*a*a*a*a*a*a*a*a*a*a*a*a*b")"));
	CHECK(events.matches(R"(comm ~ "*a*a*a*a*")"));
}

TEST_CASE("filter: labels are strings, and their values numbers")
{
	FilterEvents events;
	const auto state = [&](int value) { events.event(labels, static_cast<unsigned>(value) & 0xffff, {7}); };
	state(-2);
	CHECK(events.matches(R"(state == "minus" and state == -2 and state < 0)"));
	CHECK(events.matches(R"(state != "zero" and state ~ "m?n*" and state in {"one", "minus"})"));
	CHECK(events.matches(R"(state in {-2..-1} and state in {"zero", -2})"));
	CHECK_FALSE(events.matches(R"(state != "minus")"));
	CHECK_FALSE(events.matches(R"(state not in {"zero", -2})"));
	state(5);
	CHECK(events.matches(R"(state == "some more" and state not in {"zero", "minus"})"));
	CHECK(events.matches(R"(state in {"zero", 5} and state !~ "one*")"));
	state(77); // no label
	CHECK(events.matches(R"(state != "zero" and state !~ "*")"));
	CHECK_FALSE(events.matches(R"(state ~ "*")"));
	events.event(call, 12 | 1 << 12);
	CHECK(events.matches(R"(abi == "compat" and abi == 1 and id == 12)"));
	CHECK(events.matches("id + abi == 13"));
}

TEST_CASE("filter: a field that the class does not have")
{
	FilterEvents events;
	events.event(call);
	for (const char *fails :
	     {"ret == 0", "ret != 0", "ret < 0 or ret >= 0", "ret in {0..9}", "ret not in {0..9}", "has(ret)",
	      "ret + 1 == 1", "ret == id", "comm != \"x\"", "comm ~ \"*\"", "comm !~ \"x\"", "ret != id + 1"}) {
		CAPTURE(fails);
		CHECK_FALSE(events.matches(fails));
		CHECK_FALSE(events.can_match(fails, call));
	}
	CHECK(events.failing(
		  {"not (ret == 0)", "not has(ret)", "has(id)", "id == 0 or ret < 0", "not (comm == \"x\")"}) == none);
	events.event(long_call);
	CHECK(events.matches("has(ret) and ret == 0"));
}

TEST_CASE("filter: a field of another type in another class")
{
	FilterEvents events;
	events.event(263, 0, {FilterEvents::word("one")}); // state is a text here, a number with labels elsewhere
	CHECK(events.matches(R"(state == "one" and state ~ "o*" and state < "p")"));
	CHECK_FALSE(events.matches("state == 1"));
	CHECK_FALSE(events.matches("state != 1"));
	events.event(labels, 1);
	CHECK(events.matches(R"(state == "one" and state == 1)"));
	CHECK_FALSE(events.matches(R"(state < "p")"));
}

TEST_CASE("filter: every event has a name, a CPU, a mode, a level and a stream")
{
	FilterEvents events;
	events.event(two_words);
	CHECK(events.failing({R"(name == "two words")", R"(name ~ "two*")", R"(name in {"call", "two words"})",
			      "cpu == 3", R"(name != "call")", R"(mode == "kernel" and mode == 1 and mode != "user")",
			      "level == 1", R"(stream == "kernel_cpu3_1")", R"(stream ~ "kernel*")",
			      "has(cpu) and has(name)", "cpu + level == 4", R"(name < "u")", R"(name in {"s".."u"})",
			      "cpu in {1..3}"}) == none);
	CHECK(events.holding({"tid == 0", "tid != 0", "has(tid)", "has(thread)", R"(thread != "x")", "tid + 1 != 7",
			      R"(mode == "user")", R"(name == "call")", "cpu > 3"}) == none);
	CHECK(events.matches("tid == 77 and has(tid) and tid * 2 == 154 and tid in {70..80}", {77, nullptr}));
	events.stream.cpu = EDC_CPU_UNKNOWN; // the recorder's own events have none
	CHECK(events.holding(
		  {"cpu == 3", "cpu != 3", "cpu >= 0", "has(cpu)", "cpu in {0..4294967295}", "cpu + 1 > 0"}) == none);
	events.event(two_words, 0, {}, EDC_MODE_USER);
	CHECK(events.matches(R"(mode == "user" and not (mode == 1))"));
}

TEST_CASE("filter: the running thread and its name")
{
	std::vector<StreamWriter> writers;
	writers.emplace_back(0, 0);
	writers[0].open(100);
	const auto word_of = [](const char *text) { return FilterEvents::word(text); };
	writers[0].post(101, 257, 0, {7, word_of("make") << 32, word_of("make") >> 32, 0});
	const std::string classes =
	    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t s; s32_t prev_pid; s32_t next_pid;") +
	    samples::event_block(257, "task_rename", "u16_t a; s32_t pid; s32_t b; text_t newcomm[16];");
	const monitor::trace::Trace trace = samples::trace(writers, classes);
	monitor::trace::Threads threads(trace);
	FilterEvents events(classes);
	std::vector<std::uint64_t> rename = {0, 0, 0, 0};
	const std::int32_t pid = 7;
	const auto *field = trace.description().by_id(257)->find("pid");
	const auto *newcomm = trace.description().by_id(257)->find("newcomm");
	auto *bytes = reinterpret_cast<char *>(rename.data());
	std::memcpy(bytes + field->offset_bits / 8 - 8, &pid, sizeof pid);
	std::memcpy(bytes + newcomm->offset_bits / 8 - 8, "make", 4);
	monitor::trace::StreamInfo info;
	monitor::trace::Event event = events.event(257, 0, rename);
	event.stream = &trace.streams()[0]->info();
	threads.after(event);
	CHECK(events.matches(R"(tid == 7 and thread == "make" and thread ~ "m*" and has(thread))", {7, &threads}));
	CHECK(events.matches("thread == newcomm", {7, &threads}));
	CHECK_FALSE(events.matches(R"(thread != "make")", {7, &threads}));
	CHECK(events.matches(R"(not has(thread) and tid == 8)", {8, &threads}));
	CHECK_FALSE(events.matches(R"(thread != "make")", {8, &threads}));
	CHECK_FALSE(events.matches(R"(has(tid) or has(thread))", {-1, &threads}));
}

TEST_CASE("filter: names that clash with what every event has, or with words of the language")
{
	FilterEvents events;
	events.event(clash, 40,
		     {50 | 60ull << 32, 70 | FilterEvents::word("xy") << 32, FilterEvents::word("xy") >> 32});
	const auto *cls = events.description->by_id(clash);
	REQUIRE(cls->find("in"));
	CHECK(events.failing({"event.cpu == 40", "`cpu` == 40", "cpu == 3", "event.time == 50", "time == 1.5s",
			      "`in` == 60", "event.in == 60", "has == 70", "has(has)", "has(event.in)", "has(`time`)",
			      "event.`in` == 60", "event.has in {70}", R"(name == "clash")", R"(event.name == "xy")",
			      "event.cpu + cpu == 43"}) == none);
	events.event(call);
	CHECK(events.matches("cpu == 3 and not has(event.cpu)"));
	CHECK_FALSE(events.matches("event.cpu == 3"));
}

TEST_CASE("filter: times are nanoseconds since the beginning, as they are printed")
{
	FilterEvents events;
	events.event(two_words);
	CHECK(events.failing({"time == 1.5s", "time == 1500ms", "time == 1500000us", "time == 1500000000ns",
			      "time > 1.4s", "time >= 1.5s", "time < 1.500000001s", "time in {1s..2s}",
			      "time > 1499999999.5ns", "time > 0", "1.5s <= time", "time - 1s == 500ms",
			      "time % 1s == 500000000", "time != 1s"}) == none);
	CHECK(events.holding({"time > 1.5s", "time < 1.5s", "time != 1.5s", "time in {1.6s..2s}",
			      "time == 1.5000000001s"}) == none);
	events.last().time = FilterEvents::begin_time - 5; // printed as -5
	CHECK(events.failing({"time == -5ns", "time < 0", "time in {-6ns..-5ns}", "time + 5 == 0", "time < -4.5ns",
			      "not time >= -4ns", "time != 0s", "-1s < time"}) == none);
	events.last().time = FilterEvents::begin_time + 1;
	CHECK(events.matches("time == 1ns and time > 0.5ns"));
	events.last().time = ~0ull;
	CHECK(events.matches("time > 1s and time <= 18446744073.709551615s"));
}

TEST_CASE("filter: times of a clock that does not tick in nanoseconds")
{
	std::string text = samples::description_text(samples::filter_classes);
	const std::size_t at = text.find("freq = 1000000000");
	for (const std::uint64_t hz : {3'000'000'007ull, 24'000'000ull, 7ull}) {
		std::string why, other = text;
		other.replace(at, 17, "freq = " + std::to_string(hz));
		FilterEvents events;
		events.description = monitor::trace::read_description(other, why);
		REQUIRE(events.description);
		for (const std::uint64_t ticks : {0ull, 1ull, 6ull, 23ull, 24ull, 123'456'789ull}) {
			events.event(two_words);
			events.last().time = FilterEvents::begin_time + ticks;
			const std::uint64_t ns = events.description->clock.to_ns(ticks);
			const std::string equal = "time == " + std::to_string(ns) + "ns",
					  computed = "time + 0 == " + std::to_string(ns);
			CAPTURE(hz, ticks, ns);
			CHECK(events.matches(equal));
			CHECK(events.matches(computed));
			CHECK(events.matches("time < " + std::to_string(ns + 1) + "ns"));
			CHECK_FALSE(events.matches("time > " + std::to_string(ns) + "ns"));
			CHECK_FALSE(events.matches("time != " + std::to_string(ns) + "ns"));
		}
	}
}

TEST_CASE("filter: classes that cannot match are known before any event")
{
	const FilterEvents events;
	const std::string expression = R"(name == "call" and ret < 0)";
	CHECK(events.can_match(expression, long_call));
	for (const unsigned id : {numbers, call, ret_small, two_words})
		CHECK_FALSE(events.can_match(expression, id));
	CHECK(events.can_match(R"(name != "call" or ret < 0)", ret_small));
	CHECK_FALSE(events.can_match(R"(not (name != "call" or ret < 0))", ret_small));
	CHECK(events.can_match("ret < 0", ret_small));
	CHECK(events.can_match("ret < 0 or cpu == 1", numbers));
	CHECK_FALSE(events.can_match(R"(has(ret) and name ~ "n*")", numbers));
	CHECK_FALSE(events.can_match(R"(state == "minus" and u > 5 and small == 1)", labels));
}

TEST_CASE("filter: many conditions side by side are no depth")
{
	FilterEvents events;
	std::string set = "s in {0", alternatives = "s == 0";
	for (int i = 1; i < 2000; ++i) {
		set += "," + std::to_string(3 * i);
		alternatives += " or s == " + std::to_string(3 * i);
	}
	set += "}";
	for (const int value : {0, 1, 2, 3, 2999, 3000, 5997, 5998, 6000}) {
		events.event(numbers, 0, payload(0, word(value), 0));
		const bool should = value % 3 == 0 && value <= 5997;
		CHECK(events.matches(set) == should);
		CHECK(events.matches(alternatives) == should);
	}
}

} // namespace test_filter
