// SPDX-License-Identifier: MIT
// What becomes of bytes that are no printable characters.
#include <catch2/catch.hpp>

#include "base/encoding.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/text.h"

namespace test_escape {

using namespace monitor;

TEST_CASE("escape: a character becomes one to four bytes of UTF-8, and what is none U+FFFD")
{
	std::string text;
	for (const char32_t character : {0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff})
		append_utf8(text, character);
	CHECK(text ==
	      "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
	for (const char32_t none : {0xd800, 0xdfff, 0x110000}) {
		text.clear();
		append_utf8(text, none);
		CHECK(text == "\xef\xbf\xbd");
	}
}

TEST_CASE("escape: every kind of byte in every form")
{
	struct Row {
		std::string text, cell, lines, quoted, json;
	};
	const Row rows[] = {
	    {"plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
	     "plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
	     "plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
	    {"a\nb\tc", "a\\nb\\tc", "a\nb\tc", "a\\nb\\tc", "a\\nb\\tc"},
	    {"\x1b[2J\a\r\x7f", "\\x1b[2J\\x07\\x0d\\x7f", "\\x1b[2J\\x07\\x0d\\x7f", "\\x1b[2J\\x07\\x0d\\x7f",
	     "\\u001b[2J\\u0007\\u000d\\u007f"},
	    {"\x9b", "\\x9b", "\\x9b", "\\x9b", "\\ufffd"},
	    {"\xc2\x9b", "\\xc2\\x9b", "\\xc2\\x9b", "\\xc2\\x9b", "\\u009b"},
	    {"\xc2\x80\xc2\xa0", "\\xc2\\x80\xc2\xa0", "\\xc2\\x80\xc2\xa0", "\\xc2\\x80\xc2\xa0", "\\u0080\xc2\xa0"},
	    {"\xe2\x80\xae", "\\xe2\\x80\\xae", "\\xe2\\x80\\xae", "\\xe2\\x80\\xae", "\\u202e"},
	    {"\xe2\x80\xa8\xe2\x81\xa9", "\\xe2\\x80\\xa8\\xe2\\x81\\xa9", "\\xe2\\x80\\xa8\\xe2\\x81\\xa9",
	     "\\xe2\\x80\\xa8\\xe2\\x81\\xa9", "\\u2028\\u2069"},
	    {"\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81", "\\xf3\\xa0\\x81\\x81", "\\xf3\\xa0\\x81\\x81",
	     "\\udb40\\udc41"},
	    {"\xff\xc0\x80", "\\xff\\xc0\\x80", "\\xff\\xc0\\x80", "\\xff\\xc0\\x80", "\\ufffd\\ufffd\\ufffd"},
	    {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80", "\\ufffd\\ufffd\\ufffd"},
	    {"\xe2\x82", "\\xe2\\x82", "\\xe2\\x82", "\\xe2\\x82", "\\ufffd\\ufffd"},
	    {"\\x1b \"", "\\x1b \"", "\\x1b \"", "\\\\x1b \\\"", "\\\\x1b \\\""},
	    {std::string("\0", 1), "\\x00", "\\x00", "\\x00", "\\u0000"},
	};
	for (const Row &row : rows) {
		CHECK(escaped(row.text, Escape::cell) == row.cell);
		CHECK(escaped(row.text, Escape::lines) == row.lines);
		CHECK(escaped(row.text, Escape::quoted) == row.quoted);
		CHECK(escaped(row.text, Escape::json) == row.json);
		CHECK(printable(printable(row.text)) == row.cell);
		CHECK(json_text(row.text) == '"' + row.json + '"');
	}
}

TEST_CASE("escape: letters that combine or are wide, and joiners, stay as they are")
{
	for (const std::string text :
	     {"e\xcc\x81", "\xe4\xb8\xad", "\xd8\xb9", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb"})
		for (const Escape how : {Escape::cell, Escape::lines, Escape::quoted, Escape::json, Escape::dumped})
			CHECK(escaped(text, how) == text);
}

TEST_CASE("escape: JSON of others' texts has no control characters, and is read as it was")
{
	const nlohmann::json json = {{"a\x7f", {"\xc2\x85", "\x1b\n", "\xe2\x80\xae\xf3\xa0\x81\x81"}}};
	CHECK(json_dump(json) == "{\"a\\u007f\":[\"\\u0085\",\"\\u001b\\n\",\"\\u202e\\udb40\\udc41\"]}");
	CHECK(parse_json(json_dump(json, 1)) == json);
}

TEST_CASE("escape: JSON is read to a bound of depth, in time for its length")
{
	const auto nested = [](std::size_t depth, const std::string &inner) {
		return std::string(depth, '[') + inner + std::string(depth, ']');
	};
	CHECK_FALSE(parse_json(nested(64, "1")).is_discarded());
	CHECK(parse_json(nested(65, "1")).is_discarded());
	CHECK(parse_json(nested(1 << 20, "")).is_discarded());
	CHECK(parse_json("[").is_discarded());
	// brackets in texts are none
	CHECK(parse_json("[\"\\\"" + nested(100, "{") + "\\\\\", [1]]").size() == 2);
	std::string list = "[{}";
	for (int i = 1; i < 200'000; ++i) // minutes, if each looks at all those before
		list += ",{}";
	CHECK(parse_json(list + "]").size() == 200'000);
}

} // namespace test_escape
