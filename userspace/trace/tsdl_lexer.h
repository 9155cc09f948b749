// SPDX-License-Identifier: MIT
// The tokens of TSDL: identifiers, numbers, literals, punctuation; comments and white space are skipped.
//
// Used by the parser (tsdl.cpp) only, one token at a time. The text must outlive the lexer.
// Invariant: it never reads past the end of the text and always advances, so the parser terminates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tsdl.h"

namespace monitor::trace::tsdl {

struct Token {
	enum class Kind : std::uint8_t { end, word, integer, text, punctuation } kind = Kind::end;
	Position position;
	std::string text;          // word, string literal without quotes and escapes, or punctuation
	std::uint64_t integer = 0; // a number, or the byte of a character constant

	bool is(std::string_view punctuation_or_word) const
	{
		return (kind == Kind::punctuation || kind == Kind::word) && text == punctuation_or_word;
	}
};

class Lexer {
public:
	// Names have a maximum length because they are printed with events. A literal may be a text of the environment.
	static constexpr std::size_t max_name_bytes = 255, max_literal_bytes = 4096;

	explicit Lexer(std::string_view untrusted_text) : text_(untrusted_text) {}
	// Throws Refusal on a character or a literal that TSDL does not have.
	Token next();

private:
	char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
	Position position() const;
	void skip_blanks();
	void newline();
	void word(Token &token);
	void integer(Token &token);
	void integer_suffix();
	void literal(Token &token);
	void character(Token &token);
	void punctuation(Token &token);
	char escape();

	std::string_view text_;
	std::size_t at_ = 0;
	std::size_t line_start_ = 0;
	std::uint32_t line_ = 1;
};

} // namespace monitor::trace::tsdl
