// SPDX-License-Identifier: MIT
// The readable listing: characters, escapes, threads' names, points in time.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <ctime>
#include <limits>
#include <random>

#include <fcntl.h>
#include <sys/mman.h>

#include "answers/listing/listing.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/text.h"
#include "monitor/card.h"
#include "reading/events/event_selection.h"
#include "reading/events/merge.h"
#include "reading/events/time_text.h"
#include "samples.h"

namespace test_listing {

using namespace monitor;
using namespace monitor::trace;
using samples::StreamWriter;

namespace {

template <class Put, class Value> std::string text_of(Put put, Value value)
{
	char buffer[64];
	return {buffer, put(buffer, value)};
}

std::string printed(Trace &trace, const ListingOptions &options = {}, const EventSelection &selection = {})
{
	monitor::Fd file(::memfd_create("listing", 0));
	Listing listing(trace, options, file.get());
	merge(
	    trace, {},
	    [&](const Event &event) -> bool {
		    return listing.print(event, [&](const Event &each, std::int64_t running, const Threads &) {
			    return selection.includes(each, running);
		    });
	    },
	    [&](const StreamInfo &stream, std::uint64_t, std::uint64_t, std::uint64_t) { listing.gap(stream); });
	listing.flush();
	std::string text(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
	REQUIRE(::pread(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
	return text;
}

const std::string sched =
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t s; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(257, "task_rename", "u16_t a; s32_t pid; s32_t b; text_t newcomm[16];") +
    samples::event_block(258, "mark", "x16_t arg;");

} // namespace

TEST_CASE("text: numbers of every length are printed as by the standard library")
{
	std::mt19937_64 random(1);
	for (std::uint64_t power = 1;; power *= 10) {
		for (const std::uint64_t value : {power - 1, power, power + 1, power * 9 + 7})
			CHECK(text_of(put_unsigned, value) == std::to_string(value));
		if (power > std::numeric_limits<std::uint64_t>::max() / 10)
			break;
	}
	for (unsigned i = 0; i < 20'000; ++i) {
		const std::uint64_t value = random() >> i % 64;
		if (text_of(put_unsigned, value) != std::to_string(value))
			FAIL(value);
	}
}

TEST_CASE("text: the largest and smallest numbers are printed")
{
	const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
	for (const std::uint64_t value : {std::uint64_t(0), std::uint64_t(9), std::uint64_t(10), std::uint64_t(99),
					  std::uint64_t(100), std::uint64_t(12345), most}) {
		CHECK(text_of(put_unsigned, value) == std::to_string(value));
		const auto negative = static_cast<std::int64_t>(value);
		CHECK(text_of(put_signed, negative) == std::to_string(negative));
	}
	CHECK(text_of(put_signed, std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
	CHECK(text_of(put_hex, std::uint64_t(0)) == "0x0");
	CHECK(text_of(put_hex, std::uint64_t(0xabc)) == "0xabc");
	CHECK(text_of(put_hex, most) == "0xffffffffffffffff");
	CHECK(text_of(put_nanoseconds, 0u) == "000000000");
	CHECK(text_of(put_nanoseconds, 1u) == "000000001");
	CHECK(text_of(put_nanoseconds, 123456789u) == "123456789");
	CHECK(text_of(put_nanoseconds, 999999999u) == "999999999");
}

TEST_CASE("text: what is not plain is quoted, and nothing odd comes through")
{
	CHECK(readable("kworker/0:1-events") == "kworker/0:1-events");
	CHECK(readable("") == "\"\"");
	CHECK(readable("a b") == "\"a b\"");
	CHECK(readable("(x)") == "\"(x)\"");
	CHECK(readable("a\"\\\n\x1b[31m") == "\"a\\\"\\\\\\n\\x1b[31m\"");
	CHECK(readable("\xc3\xa9\xe2\x82\xac") == "\"\xc3\xa9\xe2\x82\xac\"");
	CHECK(readable("\xc2\x9b") == "\"\\xc2\\x9b\"");
	CHECK(readable("\xc3") == "\"\\xc3\"");
	CHECK(json_text("a\"\x01\xff\x7f") == "\"a\\\"\\u0001\\ufffd\\u007f\"");
	CHECK(json_text("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");
	CHECK(json_text("\xf0\x9f\x99\x82\xf5") == "\"\xf0\x9f\x99\x82\\ufffd\"");
}

TEST_CASE("listing: names and the running thread, until a gap")
{
	std::vector<StreamWriter> writers = {{3, 0}};
	auto &writer = writers[0];
	std::uint64_t name;
	std::memcpy(&name, "ls\0\0\0\0\0\0", 8);
	writer.open(1000000000).tid = 5;
	writer.post(1000000000, 258, 255);
	writer.post(1000000001, 257, 0, {std::uint64_t(7), name, 0});
	writer.post(1000000002, EDC_ID_SCHED_SWITCH, 0, {5 | std::uint64_t(7) << 32});
	writer.post(2500000003, 258, 1);
	writer.open(3000000000, 1).tid = 0;
	writer.post(3000000000, 258, 2);
	Trace trace = samples::trace(writers, sched);
	CHECK(printed(trace) == "   0.000000000   3 ?-5                  mark arg=0xff\n"
				"   0.000000001   3 ?-5                  task_rename a=0 pid=7 b=0 newcomm=ls\n"
				"   0.000000002   3 ?-5                  sched_switch s=0 prev_pid=5 next_pid=7(ls)\n"
				"   1.500000003   3 ls-7                 mark arg=0x1\n"
				"   2.000000000   3 idle-0               mark arg=0x2\n");
	ListingOptions json;
	json.json = true;
	SelectedThreads seven;
	seven.add(0, 7, 0, true);
	json.events = {"mark"};
	CHECK(
	    printed(trace, json, {trace, {}, seven}) ==
	    "{\"time_ns\":1500000003,\"ticks\":2500000003,\"cpu\":3,\"level\":0,\"mode\":\"kernel\",\"event\":\"mark\","
	    "\"pid\":7,\"comm\":\"ls\",\"fields\":{\"arg\":1}}\n");
	CHECK(printed(trace, {}, {trace, {4}, {}}).empty());
	ListingOptions unknown;
	unknown.events = {"nothing"};
	CHECK_THROWS_AS(printed(trace, unknown), monitor::Error);
}

TEST_CASE("listing: a hidden thread's time ends with the next token that shows it")
{
	const std::string events =
	    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t s; s32_t prev_pid; s32_t next_pid;") +
	    samples::event_block(257, "thread_state", "u16_t s; s32_t pid; u32_t flags; text_t comm[16];") +
	    samples::event_block(258, "sys_enter", "u16_t id;") + samples::event_block(259, "irq_entry", "u16_t irq;");
	std::vector<StreamWriter> writers = {{0, 0}};
	auto &writer = writers[0];
	std::uint64_t name;
	std::memcpy(&name, "init\0\0\0\0", 8);
	writer.open(1000).tid = 5;
	writer.post(1000, 257, 0, {9 | std::uint64_t(EDC_THREAD_HIDDEN) << 32, name, 0});
	writer.post(1001, EDC_ID_SCHED_SWITCH, 0, {5 | std::uint64_t(9) << 32});
	writer.post(1002, 259, 3); // an interrupt says nothing of who runs
	writer.post(1003, 258, 4); // a call does: not the hidden one
	writer.post(1004, EDC_ID_SCHED_SWITCH, 0, {5 | std::uint64_t(9) << 32});
	writer.open(2000).tid = 6; // and so does a packet
	writer.post(2000, 259, 3);
	Trace trace = samples::trace(writers, events);
	ListingOptions json;
	json.json = true;
	json.events = {"irq_entry", "sys_enter"};
	const std::string text = printed(trace, json);
	std::vector<std::string> who;
	for (std::size_t at = 0; (at = text.find("\"pid\":", at)) != std::string::npos;) {
		at += 6;
		who.push_back(text.substr(at, text.find(',', at) - at));
	}
	CHECK(who == std::vector<std::string>{"9", "null", "6"});
}

// From 2023-11-14 22:13:20.000001005 on, where clocks show UTC.
static Trace two_hours()
{
	::setenv("TZ", "UTC", 1);
	::tzset();
	std::vector<StreamWriter> writers = {{0, 0}};
	writers[0].open(1000);
	writers[0].post(1000, 256, 0);
	writers[0].open(7200000000000);
	writers[0].post(7200000000000, 256, 0);
	return samples::trace(writers);
}

TEST_CASE("time: as people write it")
{
	Trace trace = two_hours();
	CHECK(parse_time("0", "--from", trace, false) == 1000);
	CHECK(parse_time("1.5", "--from", trace, false) == 1500001000);
	CHECK(parse_time("1.5", "--to", trace, true) == 1500001000);
	CHECK(parse_time("1.5s", "--from", trace, false) == 1500001000);
	CHECK(parse_time("1500ms", "--from", trace, false) == 1500001000);
	CHECK(parse_time("2.5us", "--from", trace, false) == 3500);
	CHECK(parse_time("-0.5us", "--from", trace, false) == 500);
	CHECK(parse_time("-1", "--to", trace, true) == 0);
	CHECK(parse_time("20000000000ns", "--from", trace, false) == 20000001000);
	CHECK(parse_range("1ms", "", trace).from == 1001000);
	CHECK_THROWS_WITH(parse_range("5", "1", trace), "--from 5 is later than --to 1");
	CHECK(parse_time("0.0000000019", "--to", trace, true) == 1001);
	CHECK(parse_time("22:13:21", "--from", trace, false) == 999999995);
	CHECK(parse_time("2023-11-14 22:13:21.5", "--from", trace, false) == 1499999995);
	CHECK(parse_time("00:00:00", "--from", trace, false) == 6399999999995);
	CHECK(parse_time("1999-01-01 00:00:00", "--from", trace, false) == 0);
	for (const char *wrong : {"", "x", "1.", "1.x", "1e5", "25:00:00", "22:13:21x", "9999999999999"})
		CHECK_THROWS_AS(parse_time(wrong, "--from", trace, false), monitor::Error);
}

TEST_CASE("time: an end is the first such time after the start, also past midnight")
{
	Trace trace = two_hours();
	const TimeRange range = parse_range("23:50", "00:10", trace);
	CHECK(range.from == 5799999999995);
	CHECK(range.to == 6999999999995);
	CHECK(parse_range("1s", "00:10", trace).to == 6999999999995);
	CHECK(parse_range("", "00:10", trace).to == 6999999999995);
	CHECK_THROWS_WITH(parse_range("00:10", "23:50", trace), "--from 00:10 is later than --to 23:50");
	CHECK_THROWS_WITH(parse_range("23:50", "23:40", trace), "--from 23:50 is later than --to 23:40");
	// of a recording over several days
	const monitor::trace::Clock clock;
	const std::uint64_t begin = 1'700'000'000'000'000'000, day = 86'400'000'000'000;
	const Span days{clock, begin, begin + 3 * day};
	const TimeRange second = parse_bounds("2023-11-15 23:50", "00:10", days, "--from", "--to");
	CHECK(second.to - second.from == 1'200'000'000'000);
	CHECK(parse_time("22:13:19", "--from", days, false) == begin + day - 1'000'000'000);
}

TEST_CASE("time: the hour that clocks show twice")
{
	::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	::tzset();
	const monitor::trace::Clock clock;
	const std::uint64_t minute = 60'000'000'000, begin = 1'729'987'200'000'000'000; // 2024-10-27 02:00 +0200
	const Span summer{clock, begin, begin + 59 * minute}, winter{clock, begin + 60 * minute, begin + 180 * minute},
	    both{clock, begin, begin + 180 * minute}, none{clock, begin - 600 * minute, begin - 500 * minute};
	for (const char *text : {"02:30", "2024-10-27 02:30"}) {
		CHECK(parse_time(text, "--from", summer, false) == begin + 30 * minute);
		CHECK(parse_time(text, "--from", winter, false) == begin + 90 * minute);
		CHECK_THROWS_WITH(parse_time(text, "--from", both, false),
				  std::string("--from ") + text + ": clocks showed this time twice: write " + text +
				      "+0200 or " + text + "+0100");
	}
	CHECK(parse_time("02:30+0200", "--from", both, false) == begin + 30 * minute);
	CHECK(parse_time("02:30:00+01:00", "--from", both, false) == begin + 90 * minute);
	CHECK(parse_time("2024-10-27 00:30Z", "--from", both, false) == begin + 30 * minute);
	CHECK(parse_bounds("02:45+0200", "02:30", both, "--from", "--to").to == begin + 90 * minute);
	CHECK(parse_time("2024-10-27 02:30", "--from", none, false) == begin + 30 * minute);
	CHECK(parse_time("2024-10-27 04:30", "--from", both, false) == begin + 210 * minute);
	for (const char *wrong : {"02:30+", "02:30+x", "2024-02-30 10:00", "2024-02-30 10:00+0100", "02:30-1"})
		CHECK_THROWS_AS(parse_time(wrong, "--from", both, false), monitor::Error);
	::setenv("TZ", "UTC", 1);
	::tzset();
}

TEST_CASE("listing: a thread may be named nothing")
{
	const std::string classes = samples::event_block(EDC_ID_SCHED_WAKEUP_NEW, "sched_wakeup_new",
							 "u16_t cpu; s32_t pid; s32_t tgid; text_t comm[16];");
	std::vector<StreamWriter> writers = {{0, 0}};
	writers[0].open(1000);
	writers[0].post(1000, EDC_ID_SCHED_WAKEUP_NEW, 0, {std::uint64_t(7) << 32 | 7, 0x4142, 0});
	writers[0].post(1010, EDC_ID_SCHED_WAKEUP_NEW, 0, {std::uint64_t(7) << 32 | 7, 0, 0});
	Trace trace = samples::trace(writers, classes);
	Threads threads(trace);
	std::string names;
	merge(
	    trace, {},
	    [&](const Event &event) {
		    const Threads::Info *before = threads.name(7, 0);
		    names += before ? std::string(before->view()) + ";" : "-;";
		    threads.after(event);
	    },
	    [](const StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) {});
	REQUIRE(threads.name(7, 0));
	CHECK(threads.name(7, 0)->view().empty());
	CHECK(names == "-;BA;");
}

} // namespace test_listing
