// SPDX-License-Identifier: MIT
// Reads one token after the other, and reports unexpected ones. Base class of the parsers of fields and of blocks.
// Invariant: once at the `end` token, it stays there.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model.h"

namespace monitor::trace::tdl {

class TokenReader {
public:
	explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

	const Token &peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
	bool at_line_end() const { return peek().kind == Token::Kind::newline || peek().kind == Token::Kind::end; }
	Token take()
	{
		Token taken = peek();
		at_ += at_ + 1 < tokens_.size();
		return taken;
	}
	// Consumes these words if all of them are next.
	bool take_words(std::initializer_list<std::string_view> words);
	void expect_words(std::initializer_list<std::string_view> words);
	void expect_line_end();

	// `what` completes "expected ".
	std::uint64_t number(const std::string &what);
	std::uint64_t positive(const std::string &what);
	Name name(const std::string &what);
	std::string optional_text();
	// "expected WHAT here, not WORD", with similar words among `known`.
	[[noreturn]] void fail(const std::string &what, const std::vector<std::string> &known = {}) const;

private:
	std::vector<Token> tokens_;
	std::size_t at_ = 0;
};

} // namespace monitor::trace::tdl
