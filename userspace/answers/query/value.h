// SPDX-License-Identifier: MIT
// A value as in SQL, and its conversion from and to SQLite.
// Integers are the 64 bits of two's complement: unsigned ones from 2^63 on appear negative, like hexadecimal literals
// in SQL. Invariant: unknown values are NULL.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>

#include <sqlite3.h>

namespace monitor::query {

using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

// The range of SQLite's integers.
inline constexpr auto lowest = std::numeric_limits<std::int64_t>::min(),
		      highest = std::numeric_limits<std::int64_t>::max();

inline void put(sqlite3_context *context, const Value &value)
{
	if (const auto *number = std::get_if<std::int64_t>(&value))
		sqlite3_result_int64(context, *number);
	else if (const auto *real = std::get_if<double>(&value))
		sqlite3_result_double(context, *real);
	else if (const auto *text = std::get_if<std::string>(&value))
		sqlite3_result_text64(context, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
	else
		sqlite3_result_null(context);
}

// False for a blob, which a Value cannot hold.
inline bool read_value(sqlite3_value *from, Value &value)
{
	switch (sqlite3_value_type(from)) {
	case SQLITE_INTEGER:
		value = static_cast<std::int64_t>(sqlite3_value_int64(from));
		return true;
	case SQLITE_FLOAT:
		value = sqlite3_value_double(from);
		return true;
	case SQLITE_TEXT: {
		const auto *text = reinterpret_cast<const char *>(sqlite3_value_text(from));
		value = std::string(text ? text : "", static_cast<std::size_t>(sqlite3_value_bytes(from)));
		return true;
	}
	case SQLITE_NULL:
		value = std::monostate();
		return true;
	default:
		return false;
	}
}

} // namespace monitor::query
