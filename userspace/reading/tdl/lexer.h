// SPDX-License-Identifier: MIT
// The tokens of TDL, line by line: words, numbers, strings and the ends of lines.
//
// The parser (parser.h) reads all tokens at once. Comments run from # to the end of their line; a comma only separates,
// and a line that ends with one continues on the next line. The text is untrusted.
// Invariant: the last token is `end`, with one `newline` before it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/scanner.h"

namespace monitor::trace::tdl {

struct Token : monitor::Token {
	std::uint64_t number = 0; // two's complement if negative; the text is as written
	bool is_negative = false;
};

inline constexpr std::size_t max_text_bytes = 1u << 20, max_name_bytes = 255, max_string_bytes = 4096;

// Throws ParseError.
std::vector<Token> tokens_of(std::string_view untrusted_text);

} // namespace monitor::trace::tdl
