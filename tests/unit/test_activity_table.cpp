// SPDX-License-Identifier: MIT
// Tables of activities: what their form means, and what is refused with its line.
#include <catch2/catch.hpp>

#include "base/error.h"
#include "reading/activities/table.h"
#include "reading/activities/totals.h"
#include "samples.h"

namespace test_activity_table {

using namespace monitor::activities;

namespace {

const std::string head = "activity: one\n\tstart: name == \"tick\"\n\tend: name == \"pair\"\n";

void expect_refusal(const std::string &text, const std::string &part)
{
	INFO(text);
	CHECK_THROWS_WITH(parse_table(text, "file"), Catch::Contains(part));
}

} // namespace

TEST_CASE("table: each keyword of the language is parsed")
{
	const Table table =
	    parse_table("# comment\n\ntitle: a: b\r\nactivity: one\n start: a == 1\n end: b\n key: x = y\n"
			"by: p, q\n nested: yes\nactivity: two words\nstart: c\nend: d\nnested: no\n"
			"ratio: share = one / two words\n",
			"file");
	CHECK(table.title == "a: b");
	REQUIRE(table.activities.size() == 2);
	CHECK(table.activities[0].start == "a == 1");
	CHECK(table.activities[0].key == "x = y");
	CHECK(table.activities[0].by == "p, q");
	CHECK(table.activities[0].nested);
	CHECK(table.activities[0].where == "file, line 4");
	CHECK(table.activities[1].name == "two words");
	CHECK_FALSE(table.activities[1].nested);
	REQUIRE(table.ratios.size() == 1);
	CHECK(table.ratios[0].denominator == "two words");
}

TEST_CASE("table: what is not understood is refused with its line")
{
	expect_refusal("", "file: the table has no activity");
	expect_refusal("title: x\n", "the table has no activity");
	expect_refusal("\nstart: x\n", "file, line 2: start belongs below an activity");
	expect_refusal(head + "nonsense\n", "file, line 4: expected a word and a colon");
	expect_refusal(head + "kye: tid\n", "file, line 4: kye is not a keyword of tables.");
	expect_refusal(head + "nested: maybe\n", "file, line 4: nested must be yes or no");
	expect_refusal(head + "start: x\n", "file, line 4: start appears twice");
	expect_refusal(head + "key:\n", "file, line 4: expected a value after key:");
	expect_refusal(head + head, "file, line 4: there already is an activity one");
	expect_refusal("activity:\n", "file, line 1: an activity needs a name");
	expect_refusal(head + "ratio: one\n", "file, line 4: a ratio is written");
	expect_refusal(head + "ratio: r = one / ten\n", "file, line 4: there is no activity ten in this table");
	expect_refusal(std::string(2u << 20, '\n'), "larger than 1 MiB");
	std::string many;
	for (int i = 0; i < 101; ++i)
		many += "activity: " + std::to_string(i) + "\n";
	expect_refusal(many, "file, line 101: a table can have at most 100 activities");
	expect_refusal(head + std::string("a\x1b[31m\0b: c", 12), "file, line 4");
}

TEST_CASE("table: what the trace does not have is refused with the activity's line")
{
	const auto description = samples::description();
	const auto compiled = [&](const std::string &text) {
		return compile(parse_table(text, "file").activities.at(0), *description, 0);
	};
	CHECK_NOTHROW(compiled(head + "key: arg\n"));
	CHECK_THROWS_WITH(compiled("activity: one\nstart: arg == 1\n"),
			  Catch::Contains("file, line 1: an activity needs a start and an end"));
	CHECK_THROWS_WITH(compiled("activity: one\nstart: arg ==\nend: arg == 1\n"),
			  Catch::Contains("file, line 1, start"));
	CHECK_THROWS_WITH(compiled(head + "key: no_such\n"), Catch::Contains("file, line 1, key: no event"));
	CHECK_THROWS_WITH(compiled(head + "key: arg = arg, a\n"), Catch::Contains("not as many names"));
	CHECK_THROWS_WITH(compiled(head + "by: arg,,a\n"), Catch::Contains("file, line 1, by: a name is missing"));
	CHECK(compiled(head + "by: arg, b, end.arg\n").columns == std::vector<std::string>{"arg", "b", "end.arg"});
	CHECK(compiled(head + "by: end.arg\n").columns == std::vector<std::string>{"arg"});
}

TEST_CASE("table: those that are shipped are well-formed, others are named")
{
	for (const char *name : {"runqueue", "irq", "block"})
		CHECK_FALSE(load_table(name).has_states());
	CHECK_THROWS_WITH(load_table("no_such"), Catch::Contains("block, irq, offcpu, runqueue, syscalls"));
	const Grouping calls = grouping_of(load_table("syscalls").activities.at(0));
	CHECK(calls.source == ActivitySource::system_call);
	CHECK(calls.by == std::vector{Label::process, Label::call});
	const Grouping sleeps = grouping_of(load_table("offcpu").activities.at(0));
	CHECK(sleeps.source == ActivitySource::blocked);
	CHECK(sleeps.by == std::vector{Label::thread, Label::call, Label::waker});
}

TEST_CASE("table: a state has no events, and labels of its own")
{
	const std::string head = "activity: one\n\tstate: blocked\n";
	const auto grouped = [](const std::string &text) {
		return grouping_of(parse_table(text, "file").activities.at(0));
	};
	CHECK(grouped(head + "by: waker, process, command").by ==
	      std::vector{Label::waker, Label::process, Label::command});
	for (const char *word : {"start", "end", "key"})
		expect_refusal(head + word + ": x\n",
			       "file, line 3: an activity is a state, or has a start and an end");
	expect_refusal(head + "nested: no\n", "file, line 3: an activity is a state");
	expect_refusal("activity: one\nstart: x\nstate: blocked\n", "file, line 3: an activity is a state");
	CHECK_THROWS_WITH(grouped("activity: one\nstate: asleep\nby: call\n"),
			  "file, line 1: a state is system_call or blocked");
	CHECK_THROWS_WITH(
	    grouped(head + "by: process, id\n"),
	    Catch::Contains("file, line 1, by: a state has process, thread, command, call, waker, not id"));
	CHECK_THROWS_WITH(grouped(head + "by: call, call, call, call, call\n"), Catch::Contains("at most 4 names"));
}

} // namespace test_activity_table
