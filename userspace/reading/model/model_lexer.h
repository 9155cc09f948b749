// SPDX-License-Identifier: MIT
// The words, numbers and signs of a model's text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/scanner.h"

namespace monitor::model {

// Newlines are tokens: they end a statement and an operation, as `;` does.
class Lexer {
public:
	explicit Lexer(std::string_view untrusted_text) : scanner_(untrusted_text) { advance(); }

	const Token &token() const { return token_; }
	Token take();
	bool is(std::string_view word_or_sign) const { return token_.is(word_or_sign); }
	bool accept(std::string_view word_or_sign);
	void expect(std::string_view word_or_sign);
	void skip_newlines();
	// The rest of the line after the token, which is the last one taken.
	std::string take_line();

	bool is_name() const { return token_.kind == Token::Kind::word || token_.kind == Token::Kind::quoted_name; }
	// A plain or quoted one; `what` is for messages: "a role".
	std::string name(const char *what);
	std::uint64_t number(const char *what, std::uint64_t from, std::uint64_t to);
	double probability();
	std::uint64_t duration();

	[[noreturn]] void refuse(const std::string &sentence) const { scanner_.refuse(token_.position, sentence); }
	[[noreturn]] void refuse(TextPosition position, const std::string &sentence) const
	{
		scanner_.refuse(position, sentence);
	}

private:
	void advance();
	// "the end", or the token.
	std::string shown() const;

	Scanner scanner_;
	Token token_;
};

} // namespace monitor::model
