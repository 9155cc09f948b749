// SPDX-License-Identifier: MIT
// The one place that escapes text of foreign origin for a terminal, a CSV file or a JSON reader.
//
// Names of threads, programs, events and files can be any bytes, and so can messages that quote them. All of them pass
// through here: cells of tables and of CSV, messages and problems (printable()), the listing's names (text.h),
// JSON (base/json.h). It escapes control characters, including the 8-bit ones (0x80 to 0x9f, or U+0080 to U+009F in
// UTF-8), DEL, format characters that change how the rest of a line is shown or show nothing (such as U+202E), and
// bytes that are not UTF-8. A newline becomes \n, a tab \t, any other byte \xHH; in JSON \uHHHH, or U+FFFD for what is
// not UTF-8. Invariant: put_escaped() writes no control character except the newlines and tabs of Escape::lines and
// ::dumped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace monitor {

enum class Escape {
	cell,   // backslashes and quotes are kept, so text that is already escaped may pass again
	lines,  // newlines and tabs are kept, too
	quoted, // in quotes: backslash and quote get a backslash, so that the text is unambiguous
	json,   // in quotes
	dumped, // a whole JSON text as the library wrote it: its quotes and backslashes are kept
};

inline constexpr char hex_digits[] = "0123456789abcdef";

// The most characters that one byte can become.
inline constexpr std::size_t max_escaped_chars = 6;

// Writes to `out` without a bounds check and returns the position after the text. Adds no quotes around it.
char *put_escaped(char *out, std::string_view text, Escape how);
std::string escaped(std::string_view text, Escape how);

// Text that JSON can hold.
bool is_utf8(std::string_view text);

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
