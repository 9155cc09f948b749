// SPDX-License-Identifier: MIT
// Columns of a terminal, whatever the locale of the tests is.
#include <string>

#include <catch2/catch.hpp>

#include "answers/report/table.h"
#include "base/text_width.h"

namespace test_text_width {

using namespace monitor;

TEST_CASE("text width: columns, not characters")
{
	CHECK(text_width("") == 0);
	CHECK(text_width("plain") == 5);
	CHECK(text_width("größe") == 5);
	CHECK(text_width("日本語") == 6);
	CHECK(text_width("🙂") == 2);
	CHECK(text_width("e\u0301") == 1); // combines
	CHECK(text_width("…█") == 2);
	CHECK(text_width("\xff\xe6") == 2); // no UTF-8
}

TEST_CASE("text width: what fits, in whole characters")
{
	const std::string text = "a日本";
	CHECK(bytes_within(text, 0) == 0);
	CHECK(bytes_within(text, 2) == 1);
	CHECK(bytes_within(text, 3) == 4);
	CHECK(bytes_within(text, 9) == text.size());
	CHECK(report::cut_text(text, 5) == text);
	CHECK(report::cut_text(text, 4) == "a日…");
	CHECK(report::cut_text(text, 3) == "a…");
}

TEST_CASE("text width: columns of a table stand below each other")
{
	report::Table table;
	table.columns = {{"process", "process", report::Unit::text}, {"n", "n", report::Unit::count}};
	table.rows = {{std::string("日本語"), std::uint64_t(1)},
		      {std::string("🙂 fun"), std::uint64_t(20)},
		      {std::string("plain"), std::uint64_t(3)}};
	CHECK(report::to_text(table) == "process   n\n日本語    1\n🙂 fun   20\nplain     3\n");
}

} // namespace test_text_width
