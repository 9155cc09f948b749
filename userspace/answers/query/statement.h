// SPDX-License-Identifier: MIT
// One SQL statement on a Database; errors have a message, the line, and a caret below the position.
// One thread; the database outlives it. Invariant: an error about an unknown name suggests similar names; texts and
// blobs of a row are valid until the next step().
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "database.h"

namespace monitor::query {

// SQL that cannot be run, or that failed.
class QueryError : public Error {
public:
	using Error::Error;
};

struct Blob {
	std::string_view bytes;
};
using Cell = std::variant<std::monostate, std::int64_t, double, std::string_view, Blob>;

class Statement {
public:
	// Takes the first statement from `sql`; is_empty() if there was none (only blanks and comments). Throws
	// QueryError.
	Statement(Database &database, std::string_view &sql);
	~Statement();
	Statement(const Statement &) = delete;
	Statement &operator=(const Statement &) = delete;

	bool is_empty() const { return !statement_; }
	std::vector<std::string> columns() const;
	// Moves to the next row. False: there is none. Throws QueryError, also if interrupted (see is_interrupted() of
	// the database).
	bool step();
	Cell cell(std::size_t column) const;

private:
	[[noreturn]] void fail(std::string_view sql);
	std::string sentence(std::string_view sql);

	Database &database_;
	sqlite3_stmt *statement_ = nullptr;
	std::string sql_;
};

} // namespace monitor::query
