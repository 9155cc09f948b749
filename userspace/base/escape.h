// SPDX-License-Identifier: MIT
// Text of foreign origin on its way to a terminal, a file of values or a JSON reader: the one place that escapes.
//
// Names of threads, programs, events and files are any bytes, and so is what a message says of them. All of it passes
// here: cells of tables and of CSV, messages and problems (printable()), the listing's names (trace/text.h), JSON
// (base/json.h). What is escaped: control characters, those of 8 bits too (0x80 to 0x9f, or U+0080 to U+009F in UTF-8),
// DEL, and bytes that are no UTF-8. A newline is \n, a tab \t, another byte \xHH; in JSON \u00HH, or U+FFFD for what is
// no UTF-8. Invariant: put_escaped() writes no control character but the newlines and tabs of Escape::lines and
// ::dumped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace monitor {

enum class Escape {
	cell,   // backslashes and quotes stay, so what is escaped already may pass again
	lines,  // newlines and tabs stay, too
	quoted, // in quotes: backslash and quote get a backslash, so that nothing has two meanings
	json,   // in quotes
	dumped, // whole JSON, as a library wrote it
};

// The most that one byte takes.
inline constexpr std::size_t max_escaped_chars = 6;

// Writes at `out` without a check and returns the place behind. No quotes around it.
char *put_escaped(char *out, std::string_view text, Escape how);
std::string escaped(std::string_view text, Escape how);

// For one line, and for several.
inline std::string printable(std::string_view text)
{
	return escaped(text, Escape::cell);
}
inline std::string printable_lines(std::string_view text)
{
	return escaped(text, Escape::lines);
}

} // namespace monitor
