// SPDX-License-Identifier: MIT
// A trace as a database of SQLite, to be asked and never written.
//
//     trace::Trace trace = trace::Trace::open(directory);
//     query::Database database(trace, {});
//     query::Statement statement(database, "SELECT name, count(*) FROM events GROUP BY name");
//     while (statement.step()) ...
//
// Made by `monitor query`. Nothing is imported: tables are virtual, rows are made while they are asked for. A database
// is in memory and empty; only SELECT is allowed, and SQLite gets 256 MiB at most. One thread; one Database at a time,
// as the limit is the process's.
// Invariant: the trace outlives it; no statement can write a file or read another one than the trace.
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
	// `filter`, an expression of FDL: only these events are in the tables of events. Throws Error.
	// States to seek to are kept every so many events.
	Database(trace::Trace &trace, const std::optional<std::string> &filter,
		 std::uint64_t events_per_checkpoint = Checkpoints::usual_spacing);
	~Database();
	Database(const Database &) = delete;
	Database &operator=(const Database &) = delete;

	sqlite3 *handle() const { return handle_.get(); }
	// All that can be asked: those that every trace has first.
	const std::vector<std::string> &tables() const { return tables_; }
	// Of a table: "CREATE TABLE ..." for people. Throws Error if there is none.
	std::string schema(const std::string &table);
	std::vector<std::string> columns(const std::string &table);
	// Why a table that others have is missing here; "" if no trace has it.
	std::string why_missing(const std::string &table) const;

	// Ends the query that runs. May be called from a signal handler.
	void interrupt() noexcept;
	bool is_interrupted() const { return context_.interrupted; }
	void clear_interrupt() { context_.interrupted = false; }
	// By all queries so far: tells what a plan has saved.
	std::uint64_t events_decoded() const { return context_.events_decoded; }
	// A statement that is not a question was refused since the last call.
	bool take_refusal() { return std::exchange(is_refused_, false); }

private:
	void add_events();
	void add_classes();
	void add_lists();
	void add_folds();
	std::string free_name(const std::string &name) const;
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
	std::vector<std::string> taken_;       // names of modules that SQLite has
	std::vector<std::string> class_table_; // by class index
	bool is_refused_ = false;
	std::unique_ptr<sqlite3, Close> handle_; // last: closing it asks the tables
};

} // namespace monitor::query
