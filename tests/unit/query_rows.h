// SPDX-License-Identifier: MIT
// What a query answers, as text to compare: a row per line, values with `|` between them, NULL as `-`.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "answers/query/statement.h"

namespace query_rows {

inline std::string text(const monitor::query::Cell &cell)
{
	if (const auto *number = std::get_if<std::int64_t>(&cell))
		return std::to_string(*number);
	if (const auto *real = std::get_if<double>(&cell))
		return fmt::format("{}", *real);
	const auto *text = std::get_if<std::string_view>(&cell);
	return text ? std::string(*text) : "-";
}

// Of the first statement.
inline std::string ask(monitor::query::Database &database, std::string_view sql)
{
	monitor::query::Statement statement(database, sql);
	std::string all;
	while (statement.step()) {
		for (std::size_t i = 0; i < statement.columns().size(); ++i)
			all += (i ? "|" : "") + text(statement.cell(i));
		all += "\n";
	}
	return all;
}

inline std::string error(monitor::query::Database &database, std::string_view sql)
{
	try {
		ask(database, sql);
	} catch (const monitor::query::QueryError &error) {
		return error.what();
	}
	return "";
}

} // namespace query_rows
