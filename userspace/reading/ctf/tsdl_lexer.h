// SPDX-License-Identifier: MIT
// The tokens of TSDL: identifiers, numbers, literals, punctuation; comments and white space are skipped.
//
// The parser reads one token at a time.
// Invariant: it always advances, so the parser terminates.
#pragma once

#include <cstdint>

#include "base/scanner.h"

namespace monitor::trace::tsdl {

struct Token : monitor::Token {
	std::uint64_t integer = 0; // a number, or the byte of a character constant
};

class Lexer : Scanner {
public:
	// Names have a maximum length because they are printed with events. A literal may be a text of the environment.
	static constexpr std::size_t max_name_bytes = 255, max_literal_bytes = 4096;

	using Scanner::Scanner;
	// Throws ParseError on a character or a literal that TSDL does not have.
	Token next();

private:
	void skip_blanks();
	void word(Token &token);
	void integer(Token &token);
	void integer_suffix();
	void literal(Token &token);
	void constant(Token &token);
	void punctuation(Token &token);
	bool has_character() const;
	char any_character();
};

} // namespace monitor::trace::tsdl
