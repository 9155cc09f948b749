// SPDX-License-Identifier: MIT
#include "database.h"

#include <algorithm>
#include <cstring>

#include "activity_table.h"
#include "base/error.h"
#include "base/suggestions.h"
#include "event_table.h"
#include "module.h"
#include "order_functions.h"

namespace monitor::query {
namespace {

constexpr sqlite3_int64 max_memory_bytes = 256 << 20;
constexpr int max_value_bytes = 64 << 20;

bool is_same_name(const std::string &a, const std::string &b)
{
	return sqlite3_stricmp(a.c_str(), b.c_str()) == 0;
}

bool contains(const std::vector<std::string> &names, const std::string &name)
{
	return std::ranges::any_of(names, [&](const std::string &known) { return is_same_name(known, name); });
}

// Whether a pragma only returns information.
bool is_harmless(const char *pragma)
{
	for (const char *known : {"table_info", "table_xinfo", "table_list", "function_list", "module_list",
				  "collation_list", "compile_options"})
		if (pragma && sqlite3_stricmp(pragma, known) == 0)
			return true;
	return false;
}

// Full-text search and R-trees have functions that take pointers from blobs.
bool is_harmless_function(const char *name)
{
	for (const char *dangerous : {"load_extension", "fts3_tokenizer", "fts5", "snippet", "offsets", "matchinfo",
				      "optimize", "highlight", "bm25", "rtreenode", "rtreedepth", "rtreecheck"})
		if (!name || sqlite3_stricmp(name, dangerous) == 0)
			return false;
	return true;
}

// Of SQLite's modules, only those that read JSON stay; pragma_NAME() is judged like the pragma.
void remove_dangerous_modules(sqlite3 *handle)
{
	const char *kept[] = {"json_each", "json_tree", nullptr};
	sqlite3_drop_modules(handle, kept);
}

// SQLite itself does this when a virtual table declares its columns; in a statement it is rejected elsewhere.
bool is_declaration(int action, const char *table)
{
	return action == SQLITE_UPDATE && table && std::strcmp(table, "sqlite_master") == 0;
}

template <class Each> void for_each_row(sqlite3 *handle, const std::string &sql, Each each)
{
	sqlite3_stmt *prepared = nullptr;
	sqlite3_prepare_v2(handle, sql.c_str(), -1, &prepared, nullptr);
	const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(prepared, sqlite3_finalize);
	while (statement && sqlite3_step(statement.get()) == SQLITE_ROW)
		each(statement.get());
}

std::string text_of(sqlite3_stmt *statement, int column)
{
	const auto *text = reinterpret_cast<const char *>(sqlite3_column_text(statement, column));
	return text ? text : "";
}

} // namespace

int Database::authorize(void *database, int action, const char *first, const char *second, const char *, const char *)
{
	const bool allowed = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
			     (action == SQLITE_FUNCTION && is_harmless_function(second)) ||
			     (action == SQLITE_PRAGMA && is_harmless(first)) || is_declaration(action, first);
	if (!allowed)
		static_cast<Database *>(database)->statement_denied_ = true;
	return allowed ? SQLITE_OK : SQLITE_DENY;
}

Database::Database(trace::Trace &trace, const std::optional<std::string> &filter, std::uint64_t events_per_checkpoint)
    : context_(trace, filter, events_per_checkpoint), folded_(context_)
{
	constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
	sqlite3 *opened = nullptr;
	const int status = sqlite3_open_v2(":memory:", &opened, flags, nullptr);
	handle_.reset(opened); // may be set even on failure
	if (status != SQLITE_OK)
		throw Error("SQLite cannot be started: out of memory");
	sqlite3_hard_heap_limit64(max_memory_bytes);
	sqlite3_limit(handle(), SQLITE_LIMIT_LENGTH, max_value_bytes);
	sqlite3_limit(handle(), SQLITE_LIMIT_ATTACHED, 0);
	for_each_row(handle(), "SELECT name FROM pragma_module_list",
		     [this](sqlite3_stmt *row) { reserved_names_.push_back(text_of(row, 0)); });
	remove_dangerous_modules(handle());
	sqlite3_db_config(handle(), SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, nullptr);
	sqlite3_db_config(handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
	if (!add_order_functions(handle(), trace))
		throw Error("SQLite cannot be started: out of memory");
	add_events();
	add_folds();
	add_lists();
	add_classes();
	sqlite3_set_authorizer(handle(), authorize, this);
}

Database::~Database() = default;

void Database::Close::operator()(sqlite3 *handle) const
{
	sqlite3_close_v2(handle);
}

void Database::interrupt() noexcept
{
	context_.interrupted = true;
	sqlite3_interrupt(handle());
}

// A class may have any name: one that SQL or one of our tables already uses becomes event.NAME.
std::string Database::unused_table_name(const std::string &untrusted_name) const
{
	const std::string name = untrusted_name.substr(0, untrusted_name.find('\0'));
	const auto is_unused = [&](const std::string &wanted) {
		return !contains(tables_, wanted) && !contains(reserved_names_, wanted) &&
		       sqlite3_strnicmp(wanted.c_str(), "sqlite_", 7) != 0 &&
		       sqlite3_strnicmp(wanted.c_str(), "pragma_", 7) != 0;
	};
	std::string wanted = is_unused(name) ? name : "event." + name;
	for (int number = 2; !is_unused(wanted); ++number)
		wanted = "event." + name + "_" + std::to_string(number);
	return wanted;
}

void Database::add_events()
{
	tables_.emplace_back("events");
	Module<EventTable>::add(handle(), "events", [this] { return std::make_unique<EventTable>(context_); });
}

void Database::add_classes()
{
	const trace::Description &description = context_.trace.description();
	class_table_.resize(description.classes().size());
	for (const std::string &name : context_.trace.class_names()) {
		const std::string table = unused_table_name(name);
		const std::vector<const trace::EventClass *> classes = description.find(name);
		for (const trace::EventClass *cls : classes)
			class_table_[cls->index] = table;
		tables_.push_back(table);
		Module<EventTable>::add(handle(), table,
					[this, classes] { return std::make_unique<EventTable>(context_, classes); });
	}
}

void Database::add_folds()
{
	const analyze::EventKinds kinds(context_.trace.description(), context_.info.partial);
	const bool has_threads = kinds.has(analyze::EventMeaning::sched_switch) && context_.info.card != "user" &&
				 !context_.info.has_counts_only();
	const auto add = [&](const char *name, const char *columns, std::shared_ptr<const Rows> (Folded::*rows)()) {
		tables_.emplace_back(name);
		const MemoryTableSpec table = {columns, [this, rows](std::uint64_t) { return (folded_.*rows)(); }};
		Module<MemoryTable>::add(handle(), name, [table] { return std::make_unique<MemoryTable>(table); });
	};
	if (has_threads)
		add("threads", Folded::thread_columns(), &Folded::threads);
	if ((has_threads || context_.info.card == "user") && !context_.info.statistics) {
		tables_.emplace_back("activities");
		Module<ActivityTable>::add(handle(), "activities",
					   [this] { return std::make_unique<ActivityTable>(context_); });
	}
	if (context_.info.counters)
		add("ratios", Folded::ratio_columns(), &Folded::ratios);
}

std::string Database::why_missing(const std::string &table) const
{
	if (context_.info.has_counts_only() && (is_same_name(table, "threads") || is_same_name(table, "activities")))
		return "this recording has only the numbers of events (--count-only), which the table "
		       "statistics_events has: threads and times are unknown";
	if (is_same_name(table, "activities") && context_.info.statistics)
		return "this recording has statistics instead of events (--statistics): the tables statistics_calls, "
		       "statistics_sleeps and statistics_activities have their sums";
	if (is_same_name(table, "threads") || is_same_name(table, "activities"))
		return "this trace has no scheduler events (sched_switch), so its threads are unknown";
	if (is_same_name(table, "ratios"))
		return "this recording has no counters: record with -m, for example -m cpu,cache";
	return "";
}

std::vector<std::string> Database::columns(const std::string &table)
{
	std::vector<std::string> names;
	for_each_row(handle(), "SELECT name FROM pragma_table_xinfo(" + in_quotes(table) + ")",
		     [&](sqlite3_stmt *row) { names.push_back(text_of(row, 0)); });
	return names;
}

std::string Database::schema(const std::string &table)
{
	const auto known = std::ranges::find_if(tables_, [&](const auto &name) { return is_same_name(name, table); });
	if (known == tables_.end())
		throw Error("there is no table " + table + "." + suggestions(table, tables_));
	std::string text, comment;
	for_each_row(handle(), "SELECT name, type, hidden FROM pragma_table_xinfo(" + in_quotes(*known) + ")",
		     [&](sqlite3_stmt *row) {
			     const std::string type = text_of(row, 1);
			     text += (text.empty() ? "" : ",") + comment + "\n\t" + in_quotes(text_of(row, 0)) +
				     (type.empty() ? "" : " ") + type;
			     comment = sqlite3_column_int(row, 2) ? " -- not in *" : "";
		     });
	text += comment;
	return "CREATE TABLE " + in_quotes(*known) + " (" + text + "\n);";
}

} // namespace monitor::query
