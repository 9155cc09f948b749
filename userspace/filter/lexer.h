// SPDX-License-Identifier: MIT
// The tokens of an expression: names, numbers with units, strings, signs; white space is skipped.
//
// Used by the parser only, one token of look-ahead at a time. The text must outlive the lexer.
// Invariant: it never reads past the end of the text and always advances, so the parser terminates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "number.h"

namespace monitor::filter {

struct Token {
	enum class Kind : std::uint8_t { end, word, quoted_name, number, text, sign } kind = Kind::end;
	std::size_t at = 0;
	std::string text; // word, name, string without quotes and escapes, or sign
	Number number;

	bool is(std::string_view word_or_sign) const
	{
		return (kind == Kind::word || kind == Kind::sign) && text == word_or_sign;
	}
};

class Lexer {
public:
	explicit Lexer(std::string_view untrusted_text) : text_(untrusted_text) {}
	// Throws FilterError on input that is not part of the language.
	Token next();

private:
	char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
	[[noreturn]] void fail(std::size_t at, const std::string &sentence) const;
	void number(Token &token);
	void digits(Token &token, unsigned base);
	void decimal(Token &token);
	void text(Token &token);
	char escape();
	void quoted_name(Token &token);
	void sign(Token &token);

	std::string_view text_;
	std::size_t at_ = 0;
};

} // namespace monitor::filter
