// SPDX-License-Identifier: MIT
// Parses small files of `word: value` lines: tables (reading/activities/table.h) and rules (answers/rules/rule_file.h).
//
//     KeyedLines lines(text, "my.table", "start: name == \"sys_enter\"");
//     while (lines.next())
//             take(lines.word(), lines.value());
//
// Empty lines and lines that start with # are skipped; blanks around words and values are ignored. The text is
// untrusted and must outlive the object.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "scanner.h"

namespace monitor {

class KeyedLines {
public:
	static constexpr std::size_t max_text_bytes = 1u << 20;

	// `name` and `example` are for messages. Throws Error if the text is too long.
	KeyedLines(std::string_view untrusted_text, std::string name, const char *example);

	// Advances to the next line; false at the end. Throws Error if it has no colon.
	bool next();

	const std::string &word() const { return word_; }
	const std::string &value() const { return value_; }
	// File and line, for messages.
	std::string where() const { return name_ + ", line " + std::to_string(line_); }

private:
	Scanner scanner_;
	std::string name_;
	const char *example_;
	std::size_t line_ = 0;
	std::string word_, value_;
};

} // namespace monitor
