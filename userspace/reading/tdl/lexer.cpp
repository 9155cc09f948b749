// SPDX-License-Identifier: MIT
#include "lexer.h"

namespace monitor::trace::tdl {
namespace {

class Lexer : Scanner {
public:
	using Scanner::Scanner;

	std::vector<Token> all()
	{
		while (!at_end())
			next();
		joins_ = false;
		newline();
		add(Token::Kind::end);
		return std::move(tokens_);
	}

private:
	Token &add(Token::Kind kind)
	{
		tokens_.emplace_back();
		tokens_.back().kind = kind;
		tokens_.back().position = position();
		return tokens_.back();
	}

	// Empty lines produce no token; a comma at a line's end joins the next line to it.
	void newline()
	{
		if (!joins_ && !tokens_.empty() && tokens_.back().kind != Token::Kind::newline)
			add(Token::Kind::newline);
	}

	void next()
	{
		const char c = peek();
		if (c == '#') {
			skip_to("\n");
			return;
		}
		if (c == '\n')
			newline();
		if (std::string_view(" \t\r\n,").find(c) != std::string_view::npos) {
			joins_ = joins_ || c == ',';
			skip();
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
			refuse(position(), "this character is not valid in TDL");
	}

	// A word may contain dots.
	void word()
	{
		Token &token = add(Token::Kind::word);
		const std::size_t begin = at();
		for (identifier(); peek() == '.' && is_letter(peek(1)); identifier())
			skip();
		if (at() - begin > max_name_bytes)
			refuse(token.position, "a name is longer than 255 bytes");
		token.text = since(begin);
	}

	void number()
	{
		Token &token = add(Token::Kind::number);
		const std::size_t begin = at();
		token.is_negative = accept("-");
		const unsigned base = accept("0x") ? 16 : accept("0b") ? 2 : 10;
		const std::size_t first_digit = at();
		const auto value = digits(base);
		if (!value)
			refuse(token.position, "a number does not fit into 64 bits");
		if (at() == first_digit || is_in_word())
			refuse(token.position, "a number is malformed: 10, 0xA0 and 0b11 are numbers");
		if (token.is_negative && *value > std::uint64_t(1) << 63)
			refuse(token.position, "a number does not fit into 64 bits");
		token.number = token.is_negative ? 0 - *value : *value;
		token.text = since(begin);
	}

	void text()
	{
		Token &token = add(Token::Kind::text);
		for (skip(); peek() != '"';) {
			if (at_end() || peek() == '\n')
				refuse(token.position, "a text does not end on its line: its closing \" is missing");
			token.text +=
			    character("\"\\n", "\"\\\n", "an escape in a text must be one of \\\" \\\\ \\n \\xNN");
			if (token.text.size() > max_string_bytes)
				refuse(token.position, "a text is longer than 4096 bytes");
		}
		skip();
	}

	bool joins_ = false;
	std::vector<Token> tokens_;
};

} // namespace

std::vector<Token> tokens_of(std::string_view untrusted_text)
{
	if (untrusted_text.size() > max_text_bytes)
		throw ParseError({}, "the description is larger than 1 MiB");
	return Lexer(untrusted_text).all();
}

} // namespace monitor::trace::tdl
