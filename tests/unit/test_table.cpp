// SPDX-License-Identifier: MIT
// Tables of reports: how figures are printed.
#include <catch2/catch.hpp>

#include "answers/report/table.h"

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

} // namespace test_table
