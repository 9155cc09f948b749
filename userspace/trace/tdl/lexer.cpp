// SPDX-License-Identifier: MIT
#include "lexer.h"

#include <limits>

#include "base/ascii.h"

namespace monitor::trace::tdl {
namespace {

class Lexer {
public:
	explicit Lexer(std::string_view text) : text_(text) {}

	std::vector<Token> all()
	{
		while (at_ < text_.size())
			next();
		joins_ = false;
		newline();
		add(Token::Kind::end);
		return std::move(tokens_);
	}

private:
	char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
	Position position() const { return {line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)}; }

	Token &add(Token::Kind kind)
	{
		tokens_.emplace_back();
		tokens_.back().kind = kind;
		tokens_.back().position = position();
		return tokens_.back();
	}

	// Empty lines produce no token, and a comma at the end of a line joins the next line to it.
	void newline()
	{
		if (!joins_ && !tokens_.empty() && tokens_.back().kind != Token::Kind::newline)
			add(Token::Kind::newline);
	}

	void next()
	{
		const char c = peek();
		if (c == '\n') {
			newline();
			++at_;
			++line_;
			line_start_ = at_;
			return;
		}
		if (c == '#') {
			while (at_ < text_.size() && peek() != '\n')
				++at_;
			return;
		}
		if (c == ' ' || c == '\t' || c == '\r' || c == ',') {
			joins_ = joins_ || c == ',';
			++at_;
			return;
		}
		joins_ = false;
		if (is_letter(c))
			word();
		else if (is_digit(c) || (c == '-' && is_digit(peek(1))))
			number();
		else if (c == '"')
			text();
		else
			throw Refusal(position(), "this character is not valid in TDL");
	}

	void word()
	{
		Token &token = add(Token::Kind::word);
		const std::size_t begin = at_;
		while (is_letter(peek()) || is_digit(peek()) || (peek() == '.' && is_letter(peek(1))))
			++at_;
		if (at_ - begin > max_name_bytes)
			throw Refusal(token.position, "a name is longer than 255 bytes");
		token.text = text_.substr(begin, at_ - begin);
	}

	void number()
	{
		Token &token = add(Token::Kind::number);
		const std::size_t begin = at_;
		token.is_negative = peek() == '-';
		at_ += token.is_negative;
		unsigned base = 10;
		if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'b')) {
			base = peek(1) == 'x' ? 16 : 2;
			at_ += 2;
		}
		const std::size_t digits = at_;
		for (; digit_value(peek()) < base; ++at_) {
			const unsigned digit = digit_value(peek());
			if (token.number > (std::numeric_limits<std::uint64_t>::max() - digit) / base)
				throw Refusal(token.position, "a number does not fit into 64 bits");
			token.number = token.number * base + digit;
		}
		if (at_ == digits || is_letter(peek()) || is_digit(peek()))
			throw Refusal(token.position, "a number is malformed: 10, 0xA0 and 0b11 are numbers");
		if (token.is_negative && token.number > std::uint64_t(1) << 63)
			throw Refusal(token.position, "a number does not fit into 64 bits");
		token.number = token.is_negative ? 0 - token.number : token.number;
		token.text = text_.substr(begin, at_ - begin);
	}

	void text()
	{
		Token &token = add(Token::Kind::text);
		for (++at_; peek() != '"'; ++at_) {
			if (at_ >= text_.size() || peek() == '\n')
				throw Refusal(token.position,
					      "a text does not end on its line: its closing \" is missing");
			token.text += peek() == '\\' ? escape() : peek();
			if (token.text.size() > max_string_bytes)
				throw Refusal(token.position, "a text is longer than 4096 bytes");
		}
		++at_;
	}

	// At the backslash; stops at the last character of the escape.
	char escape()
	{
		const Position begin = position();
		++at_;
		switch (peek()) {
		case '"':
		case '\\':
			return peek();
		case 'n':
			return '\n';
		case 'x':
			if (digit_value(peek(1)) < 16 && digit_value(peek(2)) < 16) {
				at_ += 2;
				return static_cast<char>(digit_value(text_[at_ - 1]) * 16 + digit_value(text_[at_]));
			}
			break;
		default:
			break;
		}
		throw Refusal(begin, "an escape in a text must be one of \\\" \\\\ \\n \\xNN");
	}

	std::string_view text_;
	std::size_t at_ = 0, line_start_ = 0;
	std::uint32_t line_ = 1;
	bool joins_ = false;
	std::vector<Token> tokens_;
};

} // namespace

std::vector<Token> tokens_of(std::string_view untrusted_text)
{
	if (untrusted_text.size() > max_text_bytes)
		throw Refusal({}, "the description is larger than 1 MiB");
	return Lexer(untrusted_text).all();
}

} // namespace monitor::trace::tdl
