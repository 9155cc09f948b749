// SPDX-License-Identifier: MIT
// One statement of SQL over a Database, and what is wrong with it: one sentence, the line, a caret below the place.
//
// Used by `monitor query` and the tests. One thread; the database outlives it.
// Invariant: an error names what is near to a name that there is not; texts and blobs of a row are valid until the next
// step().
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "database.h"

namespace monitor::query {

// SQL that cannot be run, or ended with an error.
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
	// Takes the first statement off `sql`; there may be none (only blanks and comments): is_empty(). Throws
	// QueryError.
	Statement(Database &database, std::string_view &sql);
	~Statement();
	Statement(const Statement &) = delete;
	Statement &operator=(const Statement &) = delete;

	bool is_empty() const { return !statement_; }
	std::vector<std::string> columns() const;
	// Goes to the next row. False: there is none. Throws QueryError; an interrupt too (is_interrupted() of the
	// database tells).
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
