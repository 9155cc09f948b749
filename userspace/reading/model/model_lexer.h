// SPDX-License-Identifier: MIT
// The lexer of the model language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/scanner.h"

namespace monitor::model {

// Newlines are tokens: like `;` they end a statement or an operation.
class Lexer {
public:
	explicit Lexer(std::string_view untrusted_text) : scanner_(untrusted_text) { advance(); }

	const Token &token() const { return token_; }
	Token take();
	bool is(std::string_view word_or_sign) const { return token_.is(word_or_sign); }
	bool accept(std::string_view word_or_sign);
	void expect(std::string_view word_or_sign);
	void skip_newlines();
	// The current token and the rest of its line.
	std::string take_line();

	bool is_name() const { return token_.kind == Token::Kind::word || token_.kind == Token::Kind::quoted_name; }
	// A plain or quoted name; `what` is for messages, such as "a role".
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
	// The current token, for messages.
	std::string shown() const;

	Scanner scanner_;
	Token token_;
};

} // namespace monitor::model
