// SPDX-License-Identifier: MIT
// A trace as a read-only SQLite database.
//
//     trace::Trace trace = trace::Trace::open(directory);
//     query::Database database(trace, {});
//     query::Statement statement(database, "SELECT name, count(*) FROM events GROUP BY name");
//     while (statement.step()) ...
//
// Made by `monitor query`. Nothing is imported: tables are virtual. Rows of events and activities are made as they are
// fetched, those of the small tables all at once (memory_table.h). The database itself is in memory and empty; only
// SELECT and pragmas that just return information are allowed, and SQLite gets at most 256 MiB. Not thread-safe; one
// Database at a time, as the limit is per process. Precondition: the trace outlives it.
// Invariant: no statement can write a file, or read one other than the trace.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "context.h"
#include "folded.h"

namespace monitor::query {

class Database {
public:
	// `filter`, an FDL expression: the tables of events contain only these events. Throws Error.
	// After every events_per_checkpoint events that a query reads, the state is saved, so that a later query can
	// start there.
	Database(trace::Trace &trace, const std::optional<std::string> &filter,
		 std::uint64_t events_per_checkpoint = Checkpoints::usual_spacing);
	~Database();
	Database(const Database &) = delete;
	Database &operator=(const Database &) = delete;

	sqlite3 *handle() const { return handle_.get(); }
	// All tables: `events`, `threads`, `activities` and `ratios` if the trace has what they need, `classes`,
	// `streams`, `info`, then one for each name of an event class.
	const std::vector<std::string> &tables() const { return tables_; }
	// The readable "CREATE TABLE ..." of a table. Throws Error if there is no such table.
	std::string schema(const std::string &table);
	std::vector<std::string> columns(const std::string &table);
	// Why a table that other traces have is missing here; "" if no trace has it.
	std::string why_missing(const std::string &table) const;

	// Ends the running query. May be called from a signal handler.
	void interrupt() noexcept;
	bool is_interrupted() const { return context_.interrupted; }
	void clear_interrupt() { context_.interrupted = false; }
	// Number of events that all queries so far have decoded: few if conditions could be turned into a time to seek
	// to.
	std::uint64_t events_decoded() const { return context_.events_decoded; }
	// Messages: what the conditions of all queries so far left out, or could not decide.
	std::vector<std::string> notes() const { return context_.notes(); }
	// Whether a statement was denied since the last call, because it is not a query.
	bool take_denial() { return std::exchange(statement_denied_, false); }

private:
	void add_events();
	void add_classes();
	void add_lists();
	void add_folds();
	std::string unused_table_name(const std::string &name) const;
	std::shared_ptr<const Rows> class_rows(std::uint64_t columns_used);
	std::shared_ptr<const Rows> stream_rows() const;
	std::shared_ptr<const Rows> info_rows() const;
	static int authorize(void *database, int action, const char *, const char *, const char *, const char *);

	struct Close {
		void operator()(sqlite3 *handle) const;
	};

	Context context_;
	Folded folded_;
	std::vector<std::string> tables_;
	std::vector<std::string> reserved_names_; // of SQLite's own modules
	std::vector<std::string> class_table_;    // by class index
	bool statement_denied_ = false;
	std::unique_ptr<sqlite3, Close> handle_; // last: closing it calls the tables
};

} // namespace monitor::query
