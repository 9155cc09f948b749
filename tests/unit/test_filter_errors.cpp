// SPDX-License-Identifier: MIT
// FDL: what is wrong with an expression, and at which column.
#include <catch2/catch.hpp>

#include "base/suggestions.h"
#include "filter_events.h"

namespace test_filter_errors {

using Catch::Contains;
using monitor::ParseError;
using samples::FilterEvents;

namespace {

struct Wrong {
	const char *expression;
	std::size_t column;
	const char *says;
};

void check_all(std::initializer_list<Wrong> all)
{
	const FilterEvents events;
	for (const Wrong &wrong : all) {
		CAPTURE(wrong.expression);
		try {
			events.filter(wrong.expression);
			FAIL_CHECK("no error");
		} catch (const ParseError &error) {
			CHECK(error.position().column == wrong.column);
			CHECK_THAT(error.sentence(), Contains(wrong.says));
			CHECK_THAT(error.what(),
				   Contains("column " + std::to_string(wrong.column) + ": " + error.sentence()));
		}
	}
}

std::string what(const std::string &expression)
{
	try {
		FilterEvents().filter(expression);
	} catch (const ParseError &error) {
		return error.what();
	}
	return "no error";
}

} // namespace

TEST_CASE("filter: errors of words")
{
	check_all({{"u = 1", 3, "written =="},
		   {"comm == 'x'", 9, "double quotes"},
		   {"u == 1 # 2", 8, "is not part of"},
		   {"u == \x01", 6, "is not part of"},
		   {"comm == \"abc", 9, "does not end"},
		   {"comm == \"abc\\", 13, "escape"},
		   {"comm == \"a\\q\"", 11, "escape"},
		   {"comm == \"a\\x1\"", 11, "escape"},
		   {"u == `abc", 6, "does not end"},
		   {"u == 12x", 6, "not a number"},
		   {"u == 0b12", 6, "not a number"},
		   {"u == 0xg", 6, "digits are missing after 0x"},
		   {"u == 0b", 6, "digits are missing after 0b"},
		   {"u == 007", 6, "octal"},
		   {"u == 1.5.2", 9, "operator is missing"},
		   {"u == 1e5", 6, "not a number"},
		   {"time > 5sec", 8, "not a number"},
		   {"u == 18446744073709551616", 6, "64 bits"},
		   {"u == 0x10000000000000000", 6, "64 bits"},
		   {"u == 99999999999999999999999999999999999999999999", 6, "64 bits"},
		   {"time < 18446744074s", 8, "64 bits"}});
}

TEST_CASE("filter: errors of syntax")
{
	check_all({{"", 1, "empty"},
		   {"  ", 3, "empty"},
		   {"u", 1, "not a condition"},
		   {"u + 1", 3, "not a condition"},
		   {"u == 1 and s", 12, "not a condition"},
		   {"not u", 5, "not a condition"},
		   {"u ==", 5, "missing at the end"},
		   {"u == and", 6, "value is missing before and"},
		   {"== 5", 1, "value is missing before =="},
		   {"(u == 1", 8, ") is missing before the end"},
		   {"(u == 1 s", 9, ") is missing before s"},
		   {"u == 1)", 7, "closes nothing"},
		   {"u == 1 s == 2", 8, "operator is missing before s"},
		   {"u == 1 \"x\"", 8, "operator is missing before this string"},
		   {"1 < u < 5", 7, "write a < b and b < c"},
		   {"(u == 1) == (s == 1)", 10, "condition cannot be compared"},
		   {"(u == 1) + 1 == 2", 4, "condition; a value is needed"},
		   {"u == (s == 1)", 9, "condition; a value is needed"},
		   {"-(u == 1) == 2", 5, "condition; a value is needed"},
		   {"u in 5", 6, "set is missing"},
		   {"u in {}", 7, "value is missing"},
		   {"u in {1, }", 10, "value is missing"},
		   {"u in {1 2}", 9, ", or a } is missing before this number"},
		   {"u in {1", 8, ", or a } is missing before the end"},
		   {"u in {s}", 7, "only constants are allowed"},
		   {"u in {1..s}", 10, "only constants are allowed"},
		   {"u in {5..1}", 8, "range is empty"},
		   {"comm in {\"b\"..\"a\"}", 13, "range is empty"},
		   {"u in {1s..2}", 11, "both have a unit"},
		   {"comm in {\"b\"..5}", 13, "two numbers or two strings"},
		   {"u not 5", 7, "`in` is missing"},
		   {"5 in {5}", 1, "constant"},
		   {"\"x\" ~ \"x\"", 1, "constant"},
		   {"comm ~ 5", 8, "pattern is missing"},
		   {"comm ~ other", 8, "pattern is missing"},
		   {"1 == 1", 3, "both sides are constants"},
		   {"\"a\" == \"b\"", 5, "both sides are constants"},
		   {"comm + 1 == \"x\" + 1", 13, "arithmetic is not possible with strings"},
		   {"u + 1.5 == 3", 5, "integers only"},
		   {"u == 1 / 0", 8, "no value"},
		   {"u == 1 << 64", 8, "no value"},
		   {"u == 18446744073709551615 + 1", 27, "no value"},
		   {"u == -18446744073709551615", 6, "no value"},
		   {"has(", 5, "name is missing"},
		   {"has(5)", 5, "name is missing"},
		   {"has(u", 6, ") is missing"},
		   {"has(u + 1)", 7, ") is missing"},
		   {"event.5 == 1", 7, "name of a field is missing"},
		   {"ip.ttl.5 == 1", 8, "name of a field is missing after `ip.ttl.`"},
		   {"u == 1 and", 11, "missing at the end"}});
}

TEST_CASE("filter: errors of names and types")
{
	check_all({{"rett < 0", 1, "no event of this trace has a field \"rett\". Did you mean ret?"},
		   {"u == 1 and has(commm)", 16, "Did you mean comm?"},
		   {"nmae == \"call\"", 1, "Did you mean name?"},
		   {"event.nam == \"x\"", 1, "Did you mean name?"},
		   {"event.level == 1", 1, "has a field \"level\"."},
		   {"u == 1 and ip.ttl == 1", 12, "has a field \"ip.ttl\"."},
		   {"`no such` == 1", 1, "has a field \"no such\"."},
		   {"comm == make", 9, "Strings are written in double quotes."},
		   {"u + qqqqq == 1", 5, "has a field \"qqqqq\"."},
		   {"name == \"cal\"", 9, "no event of this trace has the name \"cal\". Did you mean call?"},
		   {"name in {\"call\", \"cal\"}", 18, "Did you mean call?"},
		   {"abi == \"natve\"", 8, "no label of abi is \"natve\". Did you mean native?"},
		   {"mode == \"kernl\"", 9, "no label of mode is \"kernl\". Did you mean kernel?"},
		   {"abi > \"native\"", 7, "labels have no order"},
		   {"abi in {\"a\"..\"z\"}", 12, "labels have no order"},
		   {"u == \"x\"", 6, "number without labels"},
		   {"u ~ \"x\"", 5, "number without labels"},
		   {"comm == 5", 9, "comm is a text"},
		   {"comm in {\"x\", 1..2}", 16, "comm is a text"},
		   {"comm + 1 == 2", 1, "comm is a text"},
		   {"name & 1 == 2", 1, "name is a text"},
		   {"u + 1 == \"x\"", 10, "a computed value is a number"},
		   {"comm == u", 6, "no event of this trace has all these fields together"},
		   {"small + pid == 5", 7, "all these fields together"},
		   {"name == cpu", 6, "a text and a number"},
		   {"comm == arg", 6, "a text and a number"},
		   {"small == comm", 7, "all these fields together"},
		   {"time > 5", 8, "a time needs a unit"},
		   {"5 < time", 1, "a time needs a unit"},
		   {"time in {1..2}", 10, "a time needs a unit"},
		   {"time < 0.5", 8, "a time needs a unit"}});
}

TEST_CASE("filter: the error shows the place")
{
	CHECK(what("u == 1 and rett < 0") ==
	      "filter, column 12: no event of this trace has a field \"rett\". Did you mean ret?\n"
	      "  u == 1 and rett < 0\n"
	      "             ^");
	// columns are characters, and control characters do not reach the terminal
	CHECK_THAT(what("comm == \"\xc3\xa4\xc3\xb6\" and\trett < 0"), Contains("column 18:"));
	CHECK_THAT(what("comm == \"\xc3\xa4\xc3\xb6\" and\nrett < 0"),
		   Contains("\n  comm == \"\xc3\xa4\xc3\xb6\" and rett < 0\n                   ^"));
	CHECK(what("comm == \"\x1b[31m\" and rett == 1").find('\x1b') == std::string::npos);
	// of a long expression only the surroundings
	const std::string many =
	    "u == 1 or " + std::string(2000, ' ') + "rett == 2 or u == 3" + std::string(2000, ' ') + "or u == 4";
	CHECK(what(many).size() < 400);
	CHECK_THAT(what(many), Contains("... ") && Contains("rett == 2") && Contains(" ..."));
}

TEST_CASE("filter: depth and length are bounded")
{
	const auto nested = [](const std::string &open, std::size_t times, const std::string &inner,
			       const std::string &close) {
		std::string text;
		for (std::size_t i = 0; i < times; ++i)
			text += open;
		text += inner;
		for (std::size_t i = 0; i < times; ++i)
			text += close;
		return text;
	};
	CHECK(what(nested("(", 90, "u == 1", ")")) == "no error");
	CHECK(what(nested("not ", 90, "u == 1", "")) == "no error");
	CHECK(what(nested("(u + ", 90, "u", ")") + " == 1") == "no error");
	CHECK(what("u" + nested(" + s", 90, "", "") + " == 1") == "no error");
	for (const std::size_t times : {200, 20000}) {
		CHECK_THAT(what(nested("(", times, "u == 1", ")")), Contains("100 levels deep"));
		CHECK_THAT(what(nested("-", times, "u", "") + " == 1"), Contains("100 levels deep"));
		CHECK_THAT(what(nested("!", times, "u == 1", "")), Contains("100 levels deep"));
		CHECK_THAT(what(nested("1-", times, "u", "") + " == 1"),
			   Contains("100 levels deep") || Contains("no error"));
	}
	CHECK_THAT(what("u" + nested(" + s", 200, "", "") + " == 1"), Contains("100 levels deep"));
	CHECK_THAT(what("u == 1" + std::string(1 << 16, ' ')), Contains("at most 65536 bytes"));
	CHECK(what("u == 1" + std::string((1 << 16) - 6, ' ')) == "no error");
}

TEST_CASE("filter: a description without any event knows what every event has")
{
	const FilterEvents none("");
	CHECK_NOTHROW(none.filter("cpu == 1 and mode == \"user\""));
	CHECK_THROWS_AS(none.filter("ret == 1"), ParseError);
}

TEST_CASE("suggestions: names that resemble another one")
{
	CHECK(monitor::suggestions("qqqqqq", {"cycles", "cs"}).empty());
	CHECK(monitor::suggestions("cache", {"cache"}).empty()); // of something else
	CHECK(monitor::suggestions("Cache", {"cache"}) == " Did you mean cache?");
	CHECK(monitor::suggestions("cach", {"cpu", "cache", "tlb"}) == " Did you mean cache?");
}

} // namespace test_filter_errors
