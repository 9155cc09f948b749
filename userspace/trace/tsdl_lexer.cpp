// SPDX-License-Identifier: MIT
#include "tsdl_lexer.h"

#include <limits>

#include "base/ascii.h"

namespace monitor::trace::tsdl {
Position Lexer::position() const
{
	return {line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)};
}

void Lexer::newline()
{
	++line_;
	line_start_ = at_ + 1;
}

void Lexer::skip_blanks()
{
	for (; at_ < text_.size(); ++at_) {
		const char c = peek();
		if (c == '\n') {
			newline();
		} else if (c == '/' && peek(1) == '/') {
			while (at_ + 1 < text_.size() && peek(1) != '\n')
				++at_;
		} else if (c == '/' && peek(1) == '*') {
			const Position begin = position();
			for (at_ += 2; at_ < text_.size() && !(peek() == '*' && peek(1) == '/'); ++at_)
				if (peek() == '\n')
					newline();
			if (at_ >= text_.size())
				throw Refusal(begin, "a comment does not end");
			++at_;
		} else if (c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v') {
			return;
		}
	}
}

Token Lexer::next()
{
	skip_blanks();
	Token token;
	token.position = position();
	if (at_ >= text_.size())
		return token;
	const char c = peek();
	if (is_letter(c)) {
		word(token);
	} else if (is_digit(c)) {
		integer(token);
	} else if (c == '"') {
		literal(token);
	} else if (c == '\'') {
		character(token);
	} else {
		punctuation(token);
	}
	return token;
}

void Lexer::punctuation(Token &token)
{
	token.kind = Token::Kind::punctuation;
	for (std::string_view known :
	     {"...", ":=", "->", "{", "}", "[", "]", "(", ")", "<", ">", ";", ",", ".", "=", ":", "-", "+", "*"}) {
		if (text_.substr(at_, known.size()) == known) {
			token.text = known;
			at_ += known.size();
			return;
		}
	}
	throw Refusal(token.position, "this character is not valid in TSDL");
}

void Lexer::word(Token &token)
{
	const std::size_t begin = at_;
	while (is_letter(peek()) || is_digit(peek()))
		++at_;
	if (at_ - begin > max_name_bytes)
		throw Refusal(token.position, "a name is longer than 255 bytes");
	token.kind = Token::Kind::word;
	token.text = text_.substr(begin, at_ - begin);
}

void Lexer::integer(Token &token)
{
	unsigned base = 10;
	if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X'))
		base = 16;
	else if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'B'))
		base = 2;
	else if (peek() == '0')
		base = 8;
	if (base == 16 || base == 2)
		at_ += 2;
	const std::size_t begin = at_;
	for (; digit_value(peek()) < base; ++at_) {
		const unsigned digit = digit_value(peek());
		if (token.integer > (std::numeric_limits<std::uint64_t>::max() - digit) / base)
			throw Refusal(token.position, "a number does not fit into 64 bits");
		token.integer = token.integer * base + digit;
	}
	const std::size_t digits = at_ - begin;
	integer_suffix();
	if (digits == 0 || is_letter(peek()) || is_digit(peek()))
		throw Refusal(token.position, "a number is malformed");
	token.kind = Token::Kind::integer;
}

// C's u, l and ll, in any order and case: all numbers have 64 bits here.
void Lexer::integer_suffix()
{
	const auto is = [this](char lower) { return (peek() | 0x20) == lower; };
	const bool begins_unsigned = is('u');
	at_ += begins_unsigned;
	for (int longs = 0; longs < 2 && is('l'); ++longs)
		++at_;
	at_ += !begins_unsigned && is('u');
}

void Lexer::literal(Token &token)
{
	token.kind = Token::Kind::text;
	for (++at_; peek() != '"';) {
		if (peek() == '\n')
			throw Refusal(token.position, "a string literal does not end on its line");
		if (at_ + (peek() == '\\') >= text_.size())
			throw Refusal(token.position, "a string literal does not end");
		token.text += peek() == '\\' ? escape() : text_[at_++];
		if (token.text.size() > max_literal_bytes)
			throw Refusal(token.position, "a string literal is longer than 4096 bytes");
	}
	++at_;
}

// 'c' is the number of its byte, as in C.
void Lexer::character(Token &token)
{
	token.kind = Token::Kind::integer;
	++at_;
	const bool is_empty = peek() == '\n' || peek() == '\'';
	if (is_empty || at_ + (peek() == '\\') >= text_.size())
		throw Refusal(token.position, "a character constant is empty or does not end");
	token.integer = static_cast<unsigned char>(peek() == '\\' ? escape() : text_[at_++]);
	if (peek() != '\'')
		throw Refusal(token.position, "a character constant does not end after one character");
	++at_;
}

// At a backslash: returns the character it stands for.
char Lexer::escape()
{
	const Position begin = position();
	const char c = peek(1);
	at_ += 2;
	if (c >= '0' && c <= '7') {
		unsigned value = digit_value(c);
		for (int more = 0; more < 2 && digit_value(peek()) < 8; ++more)
			value = value * 8 + digit_value(text_[at_++]);
		if (value > 255)
			throw Refusal(begin, "an escape in a literal does not fit into one byte");
		return static_cast<char>(value);
	}
	if (c == 'x' && digit_value(peek()) < 16) {
		unsigned value = 0;
		for (int more = 0; more < 2 && digit_value(peek()) < 16; ++more)
			value = value * 16 + digit_value(text_[at_++]);
		return static_cast<char>(value);
	}
	constexpr std::string_view letters = "abfnrtv\"'\\?", meanings = "\a\b\f\n\r\t\v\"'\\?";
	const std::size_t known = letters.find(c);
	if (c == '\0' || known == std::string_view::npos)
		throw Refusal(begin, "unknown escape in a literal");
	return meanings[known];
}

} // namespace monitor::trace::tsdl
