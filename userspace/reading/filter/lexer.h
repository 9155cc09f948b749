// SPDX-License-Identifier: MIT
// The tokens of an expression: names, numbers with units, strings, operators and brackets; white space is skipped.
//
// One token of look-ahead.
// Invariant: it always advances, so the parser terminates.
#pragma once

#include <string_view>

#include "base/scanner.h"
#include "number.h"

namespace monitor::filter {

struct Token : monitor::Token {
	Number number;
};

class Lexer : Scanner {
public:
	explicit Lexer(std::string_view untrusted_text) : Scanner(untrusted_text, "filter") {}
	// Throws ParseError on input that is not part of the language.
	Token next();

private:
	void number(Token &token);
	void fraction_and_unit(Number &number);
	void text(Token &token);
	void quoted_name(Token &token);
	void sign(Token &token);
};

} // namespace monitor::filter
