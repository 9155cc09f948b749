// SPDX-License-Identifier: MIT
// Tables of reports: how figures are printed.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "answers/report/table.h"
#include "base/text_width.h"

namespace test_table {

using namespace monitor::report;

TEST_CASE("table: a small ratio is not printed as 0")
{
	const auto text = [](double value) {
		Table table;
		table.columns = {{"ratio", "ratio", Unit::ratio}};
		table.rows.push_back({value});
		std::string line = to_text(table);
		line.erase(0, line.find('\n') + 1);
		line.erase(0, line.find_first_not_of(' '));
		return line.substr(0, line.find_last_not_of(" \n") + 1);
	};
	CHECK(text(0) == "0.000");
	CHECK(text(1.2345e-7) == "1.2e-07");
	CHECK(text(-1.2345e-5) == "-1.2e-05");
	CHECK(text(0.001234) == "0.0012");
	CHECK(text(0.0123) == "0.012");
	CHECK(text(0.853) == "0.853");
	CHECK(text(12.35) == "12.3");
}

TEST_CASE("table: where there is no room, columns without a value and then the least useful ones go")
{
	Table table;
	table.columns = {{"recorded", "", Unit::flag},
			 {"name", "name", Unit::text, 0, "whose it is"},
			 {"a", "first", Unit::count, 2, "one"},
			 {"b", "second", Unit::count, 1, "two"},
			 {"c", "third", Unit::count, 2, "three"},
			 {"d", "unknown", Unit::count, 1, "four"}};
	table.rows = {{false, std::string(40, 'x'), std::uint64_t(1), std::uint64_t(2), std::uint64_t(3), Cell()},
		      {false, std::string("y"), std::uint64_t(4), Cell(), std::uint64_t(6), Cell()}};
	const auto titles = [](Table of, std::size_t width) {
		const std::vector<std::string> left_out = fit_columns(of, width);
		std::string text;
		for (const Column &column : of.columns)
			text += column.title + " ";
		for (const std::string &title : left_out)
			text += "-" + title;
		return text;
	};
	CHECK(titles(table, 200) == "name first second third ");
	CHECK(titles(table, 38) == "name first second third "); // the name can be cut to 16
	CHECK(titles(table, 37) == "name first second -third");
	CHECK(titles(table, 24) == "name second -first-third");
	CHECK(titles(table, 1) == "name -first-second-third");
	Table fitted = table;
	fit_columns(fitted, 38);
	std::size_t widest = 0;
	const std::string text = to_text(fitted, 38);
	for (std::size_t from = 0, to; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
		widest = std::max(widest, monitor::text_width(text.substr(from, to - from)));
	CHECK(widest == 38);
	CHECK(legend_text(fitted) == "column  meaning\nname    whose it is\nfirst   one\nsecond  two\nthird   three\n");
	Table empty;
	empty.columns = table.columns;
	CHECK(titles(empty, 200) == " name first second third unknown ");
}

} // namespace test_table
