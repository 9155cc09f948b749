// SPDX-License-Identifier: MIT
#include "statement.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/scanner.h"
#include "base/suggestions.h"
#include "base/text_width.h"

namespace monitor::query {
namespace {

bool is_denied(int status)
{
	return status == SQLITE_AUTH || status == SQLITE_READONLY;
}

// Whether the message starts with `start`; sets `rest`.
bool strip_prefix(const std::string &message, const char *start, std::string &rest)
{
	if (!message.starts_with(start))
		return false;
	rest = message.substr(std::string(start).size());
	return true;
}

char visible(char c)
{
	return static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
}

// The line that contains the position, and a caret below it.
std::string with_caret(std::string_view sql, int offset)
{
	if (offset < 0 || static_cast<std::size_t>(offset) > sql.size())
		return "";
	constexpr std::size_t before = 60, after = 100;
	const auto at = static_cast<std::size_t>(offset);
	std::size_t from = sql.rfind('\n', at == 0 ? 0 : at - 1);
	from = from == std::string_view::npos || from >= at ? 0 : from + 1;
	from = std::max(from, at > before ? at - before : 0);
	while (from < at && (sql[from] & 0xc0) == 0x80)
		++from;
	std::string line;
	for (std::size_t i = from; i < std::min(sql.size(), at + after) && (i < at || sql[i] != '\n'); ++i)
		line += visible(sql[i]);
	return "\n  " + line + "\n  " + std::string(text_width(line.substr(0, at - from)), ' ') + "^";
}

} // namespace

Statement::Statement(Database &database, std::string_view &sql) : database_(database)
{
	database.take_denial();
	const char *rest = nullptr;
	const std::string_view all = sql;
	const int status =
	    sqlite3_prepare_v2(database.handle(), all.data(), static_cast<int>(all.size()), &statement_, &rest);
	sql = rest ? all.substr(static_cast<std::size_t>(rest - all.data())) : std::string_view();
	sql_ = all.substr(0, all.size() - sql.size());
	if (status != SQLITE_OK)
		fail(all);
}

Statement::~Statement()
{
	sqlite3_finalize(statement_);
}

std::vector<std::string> Statement::columns() const
{
	std::vector<std::string> names;
	for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
		const char *name = sqlite3_column_name(statement_, i);
		names.emplace_back(name ? name : "?");
	}
	return names;
}

bool Statement::step()
{
	const int status = sqlite3_step(statement_);
	if (status != SQLITE_ROW && status != SQLITE_DONE)
		fail(sql_);
	return status == SQLITE_ROW;
}

Cell Statement::cell(std::size_t column) const
{
	const int number = static_cast<int>(column);
	switch (sqlite3_column_type(statement_, number)) {
	case SQLITE_INTEGER:
		return static_cast<std::int64_t>(sqlite3_column_int64(statement_, number));
	case SQLITE_FLOAT:
		return sqlite3_column_double(statement_, number);
	case SQLITE_NULL:
		return {};
	default:
		break;
	}
	const bool is_blob = sqlite3_column_type(statement_, number) == SQLITE_BLOB;
	const auto *bytes = is_blob ? static_cast<const char *>(sqlite3_column_blob(statement_, number))
				    : reinterpret_cast<const char *>(sqlite3_column_text(statement_, number));
	const std::string_view text(bytes ? bytes : "",
				    static_cast<std::size_t>(sqlite3_column_bytes(statement_, number)));
	return is_blob ? Cell(Blob{text}) : Cell(text);
}

std::string Statement::sentence(std::string_view sql)
{
	const int status = sqlite3_errcode(database_.handle());
	std::string message = sqlite3_errmsg(database_.handle());
	if (database_.take_denial() || is_denied(status) || message.ends_with(" may not be modified"))
		return "a trace can be queried, not changed: only SELECT is allowed here";
	if (status == SQLITE_NOMEM)
		return "the query needs more than the 256 MiB that it may use: select less, or use LIMIT";
	if (status == SQLITE_TOOBIG)
		return "a value of the query is longer than the 64 MiB that it may have";
	if (status == SQLITE_INTERRUPT)
		return "the query was interrupted";
	std::string name;
	if (strip_prefix(message, "no such table: ", name)) {
		const std::string why = database_.why_missing(name);
		return "there is no table " + name +
		       (why.empty() ? "." + suggestions(name, database_.tables()) : ": " + why);
	}
	if (strip_prefix(message, "no such column: ", name)) {
		// Of the tables in the statement.
		std::vector<std::string> known;
		for (const std::string &table : database_.tables())
			if (table != name && has_word(sql, table))
				for (const std::string &column : database_.columns(table))
					if (std::ranges::find(known, column) == known.end())
						known.push_back(column);
		const std::size_t dot = name.find('.');
		for (const std::string &column : known)
			if (dot != std::string::npos && (name == column || name.ends_with("." + column)))
				return fmt::format(
				    "the name of the column {0} has a dot: write \"{0}\", in double quotes", column);
		std::string near = suggestions(name, known);
		if (near.empty() && dot != std::string::npos)
			near = suggestions(name.substr(dot + 1), known);
		constexpr std::size_t max_listed = 40;
		if (near.empty() && !known.empty() && known.size() <= max_listed)
			near = fmt::format(" There are {}.", fmt::join(known, ", "));
		return "there is no column " + name + "." + near;
	}
	return message;
}

void Statement::fail(std::string_view sql)
{
	const int offset = sqlite3_error_offset(database_.handle());
	const std::string what = sentence(sql);
	throw QueryError("query: " + what + with_caret(sql, offset));
}

} // namespace monitor::query
