// SPDX-License-Identifier: MIT
#include "tsdl_lexer.h"

namespace monitor::trace::tsdl {

void Lexer::skip_blanks()
{
	for (;;) {
		take_any(" \t\n\r\f\v");
		const TextPosition begin = position();
		if (accept("//"))
			skip_to("\n");
		else if (!accept("/*"))
			return;
		else if (!skip_to("*/"))
			refuse(begin, "a comment does not end");
		else
			accept("*/");
	}
}

Token Lexer::next()
{
	skip_blanks();
	Token token;
	token.position = position();
	if (at_end())
		return token;
	if (is_letter(peek()))
		word(token);
	else if (is_digit(peek()))
		integer(token);
	else if (peek() == '"')
		literal(token);
	else if (peek() == '\'')
		constant(token);
	else
		punctuation(token);
	return token;
}

void Lexer::punctuation(Token &token)
{
	static constexpr std::string_view known[] = {"...", ":=", "->", "{", "}", "[", "]", "(", ")", "<",
						     ">",   ";",  ",",  ".", "=", ":", "-", "+", "*"};
	token.kind = Token::Kind::sign;
	token.text = accept_one(known);
	if (token.text.empty())
		refuse(token.position, "this character is not valid in TSDL");
}

void Lexer::word(Token &token)
{
	token.kind = Token::Kind::word;
	const std::string_view name = identifier();
	if (name.size() > max_name_bytes)
		refuse(token.position, "a name is longer than 255 bytes");
	token.text = name;
}

void Lexer::integer(Token &token)
{
	token.kind = Token::Kind::number;
	const unsigned base = accept("0x") || accept("0X")   ? 16
			      : accept("0b") || accept("0B") ? 2
			      : peek() == '0'                ? 8
							     : 10;
	const std::size_t begin = at();
	const auto value = digits(base);
	if (!value)
		refuse(token.position, "a number does not fit into 64 bits");
	const bool has_digits = at() > begin;
	integer_suffix();
	if (!has_digits || is_in_word())
		refuse(token.position, "a number is malformed");
	token.integer = *value;
}

// C's suffixes u, l and ll, in any order and case, are ignored: all numbers have 64 bits.
void Lexer::integer_suffix()
{
	const bool begins_unsigned = accept("u") || accept("U");
	for (int longs = 0; longs < 2 && (accept("l") || accept("L")); ++longs)
		;
	if (!begins_unsigned && !accept("u"))
		accept("U");
}

// A backslash at the end is not a character.
bool Lexer::has_character() const
{
	return !at_end() && rest() != "\\";
}

void Lexer::literal(Token &token)
{
	token.kind = Token::Kind::text;
	for (skip(); peek() != '"';) {
		if (peek() == '\n')
			refuse(token.position, "a string literal does not end on its line");
		if (!has_character())
			refuse(token.position, "a string literal does not end");
		token.text += any_character();
		if (token.text.size() > max_literal_bytes)
			refuse(token.position, "a string literal is longer than 4096 bytes");
	}
	skip();
}

// 'c' is the number of its byte, as in C.
void Lexer::constant(Token &token)
{
	token.kind = Token::Kind::number;
	skip();
	if (peek() == '\n' || peek() == '\'' || !has_character())
		refuse(token.position, "a character constant is empty or does not end");
	token.integer = static_cast<unsigned char>(any_character());
	if (!accept("'"))
		refuse(token.position, "a character constant does not end after one character");
}

// Escapes are those of C.
char Lexer::any_character()
{
	const TextPosition begin = position();
	if (peek() == '\\' && digit_value(peek(1)) < 8) {
		skip();
		const std::uint64_t value = *digits(8, 3);
		if (value > 255)
			refuse(begin, "an escape in a literal does not fit into one byte");
		return static_cast<char>(value);
	}
	if (peek() == '\\' && peek(1) == 'x' && digit_value(peek(2)) < 16) {
		skip(2);
		return static_cast<char>(*digits(16, 2));
	}
	return character("abfnrtv\"'\\?", "\a\b\f\n\r\t\v\"'\\?", "unknown escape in a literal");
}

} // namespace monitor::trace::tsdl
