// SPDX-License-Identifier: MIT
// Pairs of events as a text: the same words for triggers, record --time, stat --pair and rules; what is refused, and
// where.
#include <catch2/catch.hpp>

#include "answers/matcher/named_text.h"
#include "answers/rules/rule_file.h"
#include "answers/trigger/trigger_text.h"
#include "base/parse_error.h"
#include "monitor/trigger.h"
#include "reading/activities/table.h"
#include "reading/filter/pair_text.h"
#include "samples.h"

namespace test_pair_text {

using namespace monitor;
using PairKind = filter::PairText::Kind;
using Names = std::vector<std::string>;

namespace {

filter::PairText parsed(const std::string &text)
{
	return filter::parse_pair(text, "pair");
}

// What is refused, with the place: "12: sentence".
std::string refused(const std::string &text)
{
	try {
		parsed(text);
	} catch (const ParseError &error) {
		return fmt::format("{}: {}", error.position().column, error.sentence());
	} catch (const Error &error) {
		return error.what();
	}
	return "";
}

activities::Definition measured(const std::string &text)
{
	static const auto description = samples::description();
	return activities::compile({"a", "", "", "", "", "", false, "--pair", text}, *description, 0);
}

} // namespace

TEST_CASE("pair text: the same words for a trigger, a time, an activity and a rule")
{
	struct Row {
		const char *text, *start, *end, *start_key, *end_key;
	};
	for (const Row &row :
	     {Row{R"(name == "tick" then name == "pair")", R"(name == "tick")", R"(name == "pair")", "", ""},
	      Row{R"(name == "tick" .. name == "pair" per arg)", R"(name == "tick")", R"(name == "pair")", "arg",
		  "arg"},
	      Row{R"(name == "tick" then name == "pair" and a == 1 per arg = a)", R"(name == "tick")",
		  R"(name == "pair" and a == 1)", "arg", "a"},
	      Row{R"(name == "tick" as t then b == t.arg and name == "pair")", R"(name == "tick")", R"(name == "pair")",
		  "arg", "b"},
	      Row{"(arg == 1 or arg == 2)\tthen\n has(a) and not has(b) per cpu", "(arg == 1 or arg == 2)",
		  "has(a) and not has(b)", "cpu", "cpu"}}) {
		CAPTURE(row.text);
		const NamedTrigger trigger = trigger::parse_triggers({std::string(row.text) + " => mark"}).at(0);
		const NamedTime time = matcher::parse_times({std::string("x=") + row.text}).at(0);
		const activities::Definition activity = measured(row.text);
		for (const std::string &start : {trigger.first, time.start})
			CHECK(start == row.start);
		for (const std::string &end : {trigger.second, time.end})
			CHECK(end == row.end);
		CHECK(trigger.kind == EDC_TRIGGER_THEN);
		CHECK(trigger.first_key + trigger.second_key == std::string(row.start_key) + row.end_key);
		CHECK(time.start_key + time.end_key == std::string(row.start_key) + row.end_key);
		const Names start_key = filter::split_names(row.start_key, ""),
			    end_key = filter::split_names(row.end_key, "");
		CHECK(activity.start_key.names() == start_key);
		CHECK(activity.end_key.names() == end_key);
		if (std::string_view(row.text).find('\n') != std::string_view::npos)
			continue; // a rule is a line
		const rules::RuleText rule = rules::parse_rules(std::string("r: ") + row.text, "file").at(0);
		CHECK(rule.name == "r");
		CHECK(rule.find("when")->text == row.start);
		CHECK(rule.find("then")->text == row.end);
		CHECK((rule.find("key") ? rule.find("key")->text : "") ==
		      (start_key.empty() ? "" : start_key[0] + " = " + end_key[0]));
	}
}

TEST_CASE("pair text: how late the second event is, and that it does not come")
{
	CHECK(parsed("a == 1 then b == 2 within 10 ms per k").within_ns == 10'000'000);
	CHECK(parsed("a == 1 then b == 2 within 1.5us").within_ns == 1500);
	CHECK(measured(R"(name == "tick" then name == "pair" within 2us)").within == 2000);
	const std::string text = R"(name == "tick" not followed by name == "pair" within 2us per arg)";
	CHECK(parsed(text).kind == PairKind::missing);
	CHECK(trigger::parse_triggers({text + " => mark"}).at(0).within_ns == 2000);
	const auto rules = rules::parse_rules("one: " + text + "\n\tneeds: tick\ntwo: a then b within 1 s", "file");
	REQUIRE(rules.size() == 2);
	CHECK(rules[0].find("never")->text == R"(name == "pair")");
	CHECK(rules[0].find("within")->text == "2000ns");
	CHECK(rules[0].find("needs"));
	CHECK(rules[1].where == "file, line 3");
	CHECK_THROWS_WITH(measured(text), "--pair: an activity lasts from one event to another: write A then B");
	CHECK_THROWS_WITH(matcher::parse_times({"x=" + text}), Catch::Contains("--time x: give what starts it"));
	CHECK_THROWS_WITH(matcher::parse_times({"x=a == 1 then b == 2 within 1s"}),
			  Catch::Contains("leave out `within`"));
	CHECK_THROWS_WITH(rules::parse_rules("rul: tid", "file"), Catch::Contains("Did you mean rule"));
	CHECK_THROWS_WITH(rules::parse_rules("one: a then b per", "file"),
			  Catch::StartsWith("file, line 1, pair of one, column 13: "));
}

TEST_CASE("pair text: several values in common, where they are not compared in probes")
{
	const std::string text = R"(name == "pair" then name == "pair" per a, arg = b, arg)";
	CHECK(measured(text).start_key.names() == Names{"a", "arg"});
	CHECK(measured(text).end_key.names() == Names{"b", "arg"});
	CHECK(parsed("x as w then a == w.b and c == w.d and y per k").start_key == Names{"b", "d", "k"});
	CHECK_THROWS_WITH(trigger::parse_triggers({text + " => mark"}), Catch::Contains("one number in common"));
	CHECK_THROWS_WITH(matcher::parse_times({"x=" + text}), Catch::Contains("one number in common"));
}

TEST_CASE("pair text: a time without a name has one by its place")
{
	const auto times = matcher::parse_times({"a == 1 then b == 2", "x=c then d", "c==1 then d per tid"});
	CHECK(times[0].name == "time1");
	CHECK(times[0].start == "a == 1");
	CHECK(times[1].name == "x");
	CHECK(times[2].name == "time3");
	CHECK(times[2].start == "c==1");
	CHECK_THROWS_WITH(matcher::parse_times({"a < 1 .. b"}), Catch::Contains("give it a name"));
	CHECK_THROWS_WITH(matcher::parse_counts({"a == 1"}), Catch::Contains("--count a == 1: give it a name"));
	CHECK(matcher::parse_counts({"x=a == 1"}).at(0).expression == "a == 1");
}

TEST_CASE("pair text: words in quotes and brackets, and names of fields, are part of a condition")
{
	const filter::PairText pair =
	    parsed(R"(a == "x then y" and b in {1..2} then event.then == 1 and `per` == 2 per k)");
	CHECK(pair.start == R"(a == "x then y" and b in {1..2})");
	CHECK(pair.end == "event.then == 1 and `per` == 2");
	CHECK(parsed("times > 5").start == "times > 5");
	CHECK(parsed("within == 1 and per < as 3 times within 1s per per").start == "within == 1 and per < as");
	CHECK(parsed("not as == 1 as as then per == as.times and within > 0").start == "not as == 1");
}

TEST_CASE("pair text: what is not understood is refused with its place")
{
	CHECK(refused("a == 1 followed by b") == "20: write `A then B`, or `A not followed by B within T`");
	CHECK(refused("a == 1 within 1s") ==
	      "15: `within` and `per` are for `A then B`, `A not followed by B` and `N times`");
	CHECK(refused("a == 1 then b == 2 then c").starts_with("25: `then` is too much here"));
	CHECK(refused("a == 1 then b == 2 per k within 1s").starts_with("33: `within` is too much here"));
	CHECK(refused("a == 1 then b == 2 within soon") ==
	      "27: soon is not a duration, such as 100ms, of 1 ns to 31 years");
	CHECK(refused("a == 1 then b == 2 within 0ms").starts_with("27: 0ms is not"));
	CHECK(refused("a == 1 then b == 2 per 7").starts_with("24: after `per` follows a key: tid, cpu"));
	CHECK(refused("a == 1 then b == 2 per a, b = c") == "pair: there are not as many names before = as after it");
	CHECK(refused("a == 1 then b == 2 per a = b = c") == "pair: a key has at most 2 sides");
	CHECK(refused("a == 1 then").starts_with("12: a condition is missing"));
	CHECK(refused("a == 1 then within 1s").ends_with("then .. or `then`, and the second"));
	CHECK(refused("a == 1 as w").starts_with("11: a name for the first event is for `then`"));
	CHECK(refused("a == 1 as w 3 times within 1s").ends_with("and `within T` after it"));
	CHECK(refused(std::string(20000, 'a')) == "pair: a pair of events has at most 16384 bytes");
	CHECK(refused("").starts_with("1: a condition is missing"));
	CHECK(refused("a == 1 5000 times within 1s").starts_with("19: write a number from 2"));
	CHECK(refused("a == 1 as w then b == 2").starts_with("18: after `as NAME` the second condition"));
	CHECK(refused("a == 1 as w then b == w.c and w.d > 1 and x").starts_with("18: after `as NAME`"));
	CHECK(refused("a == \"x then b") == "6: this quoted text does not end");
	CHECK(refused("(a == 1 then b == 2 per tid") == "1: this bracket is not closed");
}

TEST_CASE("pair text: a word that is misspelt or missing between two events")
{
	CHECK(refused("a == 1 than b == 2 per tid") == "8: `than` joins no two events. Did you mean then?");
	CHECK(refused(R"(name == "x" hten name == "y")") == "13: `hten` joins no two events. Did you mean then?");
	CHECK(refused("a == 1 not folowed by b == 2 within 1s") ==
	      "12: `folowed` joins no two events. Did you mean followed?");
	CHECK(refused("a == 1 b == 2 per tid") ==
	      "8: `then` or `not followed by` is missing between the first event and this");
	CHECK(parsed("than == 1 and the < 2").start == "than == 1 and the < 2"); // names of fields
	CHECK_THROWS_WITH(matcher::parse_times({"a == 1 than b == 2 per tid"}), Catch::Contains("column 8: `than`"));
	CHECK_THROWS_WITH(matcher::parse_times({"x=a == 1 than b == 2"}), Catch::Contains("column 8: `than`"));
	CHECK_THROWS_WITH(trigger::parse_triggers({std::string("a == 1 than b == 2 => mark")}),
			  Catch::Contains("column 8: `than`"));
	CHECK_THROWS_WITH(rules::parse_rules("r: a == 1 than b == 2 per tid", "file"),
			  Catch::StartsWith("file, line 1, pair of r, column 8: `than`"));
	CHECK_THROWS_WITH(measured(R"(name == "tick" thne name == "pair")"), Catch::Contains("column 16: `thne`"));
}

TEST_CASE("pair text: a rule has a name")
{
	CHECK_THROWS_WITH(rules::parse_rules("one: a then b\n : a then b", "file"),
			  "file, line 2: a name is missing before the colon");
	CHECK_THROWS_WITH(rules::parse_rules("anything: a == 1", "file"), Catch::Contains("NAME: A then B"));
}

TEST_CASE("pair text: a key that no two events can have in common is refused")
{
	const auto says = [](const std::string &text, const std::string &sentence) {
		CHECK_THROWS_WITH(measured(text), Catch::Contains(sentence));
	};
	const std::string events = R"(name == "tick" then name == "pair" per )";
	says(events + "a", "--pair, key: no event that starts it has a.");
	says(events + "arg = name", "--pair, key: arg is a number, name a text: they are never equal.");
	says(events + "comm", "no event of this trace has a field comm. Did you mean thread?");
	CHECK(measured(events + "arg = a").end_key.names() == Names{"a"});
	CHECK(measured(events + "tid = thread").end_key.names() == Names{"thread"});
}

TEST_CASE("pair text: a table has it instead of start, end and key")
{
	const auto table =
	    activities::parse_table("activity: x\n\tpair: name == \"tick\" then name == \"pair\" per arg\n", "file");
	CHECK(activities::compile(table.activities.at(0), *samples::description(), 0).start_key.names() ==
	      Names{"arg"});
	const auto both = activities::parse_table("activity: x\npair: a then b\nstart: a\n", "file");
	CHECK_THROWS_WITH(activities::compile(both.activities.at(0), *samples::description(), 0),
			  "file, line 1: an activity needs a start and an end, or a pair");
	CHECK_THROWS_WITH(activities::parse_table("activity: x\nstate: blocked\npair: a then b\n", "file"),
			  Catch::Contains("an activity is a state, or has a start and an end"));
}

} // namespace test_pair_text
