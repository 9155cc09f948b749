// SPDX-License-Identifier: MIT
#include "lexer.h"

#include <cstdlib>

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/text.h"
#include "error.h"

namespace monitor::filter {
namespace {

struct Unit {
	std::string_view name;
	std::uint64_t ns;
};
constexpr Unit units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};

constexpr std::string_view signs[] = {"==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "!~", "..", "<", ">", "~", "+",
				      "-",  "*",  "/",  "%",  "&",  "|",  "^",  "!",  "(",  ")",  "{", "}", ",", "."};

} // namespace

void Lexer::fail(std::size_t at, const std::string &sentence) const
{
	throw FilterError(text_, at, sentence);
}

Token Lexer::next()
{
	while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
		++at_;
	Token token;
	token.at = at_;
	if (at_ >= text_.size())
		return token;
	if (is_letter(peek())) {
		token.kind = Token::Kind::word;
		while (is_letter(peek()) || is_digit(peek()))
			token.text += text_[at_++];
	} else if (is_digit(peek())) {
		number(token);
	} else if (peek() == '"') {
		text(token);
	} else if (peek() == '`') {
		quoted_name(token);
	} else {
		sign(token);
	}
	return token;
}

void Lexer::number(Token &token)
{
	token.kind = Token::Kind::number;
	const bool prefixed = peek() == '0';
	if (prefixed && (peek(1) == 'x' || peek(1) == 'X'))
		digits(token, 16);
	else if (prefixed && (peek(1) == 'b' || peek(1) == 'B'))
		digits(token, 2);
	else
		decimal(token);
	if (is_letter(peek()) || is_digit(peek()))
		fail(token.at, "this is not a number, such as 12, 0xc, 0b1100, 1.5 or 12ns (units: ns, us, ms, s)");
}

void Lexer::digits(Token &token, unsigned base)
{
	Integer value = 0;
	const std::size_t begin = at_ += 2;
	for (; digit_value(peek()) < base; ++at_)
		if ((value = value * base + digit_value(peek())) > max_integer)
			fail(token.at, "this number does not fit into 64 bits");
	if (at_ == begin)
		fail(token.at, fmt::format("digits are missing after 0{}", base == 16 ? 'x' : 'b'));
	token.number.floor = value;
}

// DIGITS[.DIGITS][UNIT]
void Lexer::decimal(Token &token)
{
	const auto skip_digits = [&] {
		const std::size_t begin = at_;
		while (is_digit(peek()))
			++at_;
		return text_.substr(begin, at_ - begin);
	};
	const std::string_view whole = skip_digits();
	std::string_view fraction;
	if (peek() == '.' && is_digit(peek(1))) {
		++at_;
		fraction = skip_digits();
	}
	if (whole.size() > 1 && whole[0] == '0')
		fail(token.at, "a number cannot begin with 0: octal numbers are not supported");
	std::uint64_t unit = 1;
	for (const Unit &known : units) {
		const char after = peek(known.name.size());
		if (text_.substr(at_, known.name.size()) == known.name && !is_letter(after) && !is_digit(after)) {
			unit = known.ns;
			at_ += known.name.size();
			token.number.has_unit = true;
			break;
		}
	}
	Integer value = 0;
	for (const char c : whole)
		if ((value = value * 10 + digit_value(c)) > max_integer)
			fail(token.at, "this number does not fit into 64 bits");
	value *= unit;
	for (const char c : fraction) {
		if (unit > 1)
			value += digit_value(c) * (unit /= 10);
		else if (c != '0')
			token.number.has_fraction = true;
	}
	if (token.number.has_fraction)
		token.number.fraction = std::strtod(("0." + std::string(fraction)).c_str(), nullptr);
	token.number.floor = value;
	if (!is_within_bounds(value))
		fail(token.at, "this number does not fit into 64 bits");
}

// A string literal; control characters only by escapes.
void Lexer::text(Token &token)
{
	token.kind = Token::Kind::text;
	for (++at_; at_ < text_.size() && peek() != '"';)
		token.text += peek() == '\\' ? escape() : text_[at_++];
	if (at_ >= text_.size())
		fail(token.at, "this string does not end: a \" is missing");
	++at_;
}

// At a backslash: returns the character that the escape means.
char Lexer::escape()
{
	const std::size_t begin = at_;
	const char c = peek(1);
	at_ = std::min(at_ + 2, text_.size());
	if (c == 'x' && digit_value(peek()) < 16 && digit_value(peek(1)) < 16) {
		at_ += 2;
		return static_cast<char>(digit_value(text_[at_ - 2]) * 16 + digit_value(text_[at_ - 1]));
	}
	constexpr std::string_view letters = "nrt\"\\", meanings = "\n\r\t\"\\";
	const std::size_t known = letters.find(c);
	if (known == std::string_view::npos)
		fail(begin, R"(unknown escape; use one of \n \r \t \" \\ and \xHH)");
	return meanings[known];
}

void Lexer::quoted_name(Token &token)
{
	token.kind = Token::Kind::quoted_name;
	const std::size_t end = text_.find('`', at_ + 1);
	if (end == std::string_view::npos)
		fail(token.at, "this name does not end: a ` is missing");
	token.text = text_.substr(at_ + 1, end - at_ - 1);
	at_ = end + 1;
}

void Lexer::sign(Token &token)
{
	token.kind = Token::Kind::sign;
	for (const std::string_view sign : signs) {
		if (text_.substr(at_, sign.size()) == sign) {
			token.text = sign;
			at_ += sign.size();
			return;
		}
	}
	if (peek() == '=')
		fail(token.at, "a comparison for equality is written ==");
	if (peek() == '\'')
		fail(token.at, "strings are written in double quotes");
	fail(token.at, fmt::format("{} is not part of the language", readable(text_.substr(at_, 1))));
}

} // namespace monitor::filter
