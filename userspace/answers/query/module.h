// SPDX-License-Identifier: MIT
// A C++ table as an SQLite module: the callbacks of sqlite3_module, with exceptions turned into SQLite errors.
//
// A Table has: `using Cursor`, declaration(), best_index(info) -> SQLite's code, make_cursor(). A Cursor has: filter(
// plan, values), is_at_end(), next(), column(context, number), row_id(). add_module() makes a separate table for each
// connection (eponymous: it exists without a CREATE). No exception passes through SQLite.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include <sqlite3.h>

#include "base/sentence.h"

namespace monitor::query {

// Thrown by a cursor when the query was interrupted.
struct Interrupted {};

template <class Table> class Module {
public:
	using Make = std::function<std::unique_ptr<Table>()>;

	static int add(sqlite3 *database, const std::string &name, Make make)
	{
		return sqlite3_create_module_v2(database, name.c_str(), callbacks(), new Make(std::move(make)),
						[](void *made) { delete static_cast<Make *>(made); });
	}

private:
	struct VirtualTable : sqlite3_vtab {
		std::unique_ptr<Table> table;
	};
	struct VirtualCursor : sqlite3_vtab_cursor {
		std::unique_ptr<typename Table::Cursor> cursor;
	};

	// Runs `call`; an exception becomes the table's error message.
	template <class Call> static int guarded(char **message, Call call)
	{
		try {
			return call();
		} catch (const Interrupted &) {
			return SQLITE_INTERRUPT;
		} catch (const std::exception &error) {
			sqlite3_free(*message);
			*message = sqlite3_mprintf("%s", sentence_of(error));
			return SQLITE_ERROR;
		}
	}
	static auto &cursor_of(sqlite3_vtab_cursor *cursor) { return *static_cast<VirtualCursor *>(cursor)->cursor; }

	static int connect(sqlite3 *database, void *make, int, const char *const *, sqlite3_vtab **made, char **message)
	{
		return guarded(message, [&] {
			auto vtab = std::make_unique<VirtualTable>();
			vtab->table = (*static_cast<Make *>(make))();
			const int status = sqlite3_declare_vtab(database, vtab->table->declaration().c_str());
			if (status == SQLITE_OK)
				*made = vtab.release();
			return status;
		});
	}
	static int disconnect(sqlite3_vtab *vtab)
	{
		delete static_cast<VirtualTable *>(vtab);
		return SQLITE_OK;
	}
	static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
	{
		return guarded(&vtab->zErrMsg,
			       [&] { return static_cast<VirtualTable *>(vtab)->table->best_index(*info); });
	}
	static int open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **made)
	{
		return guarded(&vtab->zErrMsg, [&] {
			auto cursor = std::make_unique<VirtualCursor>();
			cursor->cursor = static_cast<VirtualTable *>(vtab)->table->make_cursor();
			*made = cursor.release();
			return SQLITE_OK;
		});
	}
	static int close(sqlite3_vtab_cursor *cursor)
	{
		delete static_cast<VirtualCursor *>(cursor);
		return SQLITE_OK;
	}
	static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *, int, sqlite3_value **values)
	{
		return guarded(&cursor->pVtab->zErrMsg, [&] {
			cursor_of(cursor).filter(plan, values);
			return SQLITE_OK;
		});
	}
	static int next(sqlite3_vtab_cursor *cursor)
	{
		return guarded(&cursor->pVtab->zErrMsg, [&] {
			cursor_of(cursor).next();
			return SQLITE_OK;
		});
	}
	static int eof(sqlite3_vtab_cursor *cursor) { return cursor_of(cursor).is_at_end(); }
	static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int number)
	{
		return guarded(&cursor->pVtab->zErrMsg, [&] {
			cursor_of(cursor).column(context, static_cast<std::size_t>(number));
			return SQLITE_OK;
		});
	}
	static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *number)
	{
		*number = cursor_of(cursor).row_id();
		return SQLITE_OK;
	}

	static const sqlite3_module *callbacks()
	{
		static const sqlite3_module made = [] {
			sqlite3_module module{};
			module.xConnect = connect;
			module.xBestIndex = best_index;
			module.xDisconnect = disconnect;
			module.xOpen = open;
			module.xClose = close;
			module.xFilter = filter;
			module.xNext = next;
			module.xEof = eof;
			module.xColumn = column;
			module.xRowid = row_id;
			return module;
		}();
		return &made;
	}
};

} // namespace monitor::query
