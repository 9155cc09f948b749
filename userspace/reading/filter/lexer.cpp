// SPDX-License-Identifier: MIT
#include "lexer.h"

#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"

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

Token Lexer::next()
{
	take_any(" \t\r\n");
	Token token;
	token.position = position();
	if (at_end())
		return token;
	if (is_letter(peek())) {
		token.kind = Token::Kind::word;
		token.text = identifier();
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
	if (peek() == '0' && is_digit(peek(1)))
		refuse(token.position, "a number cannot begin with 0: octal numbers are not supported");
	const unsigned base = accept("0x") || accept("0X") ? 16 : accept("0b") || accept("0B") ? 2 : 10;
	const std::size_t begin = at();
	const auto value = digits(base);
	if (value && at() == begin)
		refuse(token.position, fmt::format("digits are missing after 0{}", base == 16 ? 'x' : 'b'));
	token.number.floor = value.value_or(0);
	if (base == 10)
		fraction_and_unit(token.number);
	if (!value || !is_within_bounds(token.number.floor))
		refuse(token.position, "this number does not fit into 64 bits");
	if (is_in_word())
		refuse(token.position,
		       "this is not a number, such as 12, 0xc, 0b1100, 1.5 or 12ns (units: ns, us, ms, s)");
}

// [.DIGITS][UNIT]
void Lexer::fraction_and_unit(Number &number)
{
	std::string_view fraction;
	if (peek() == '.' && is_digit(peek(1))) {
		skip();
		fraction = take_any("0123456789");
	}
	std::uint64_t unit = 1;
	const std::string_view suffix = Scanner(rest()).identifier();
	for (const Unit &known : units) {
		if (known.name == suffix) {
			unit = known.ns;
			skip(suffix.size());
			number.has_unit = true;
		}
	}
	number.floor *= unit;
	for (const char c : fraction) {
		if (unit > 1)
			number.floor += digit_value(c) * (unit /= 10);
		else if (c != '0')
			number.has_fraction = true;
	}
	if (number.has_fraction)
		number.fraction = std::strtod(("0." + std::string(fraction)).c_str(), nullptr);
}

// A string literal; control characters are only allowed as escapes.
void Lexer::text(Token &token)
{
	token.kind = Token::Kind::text;
	for (skip(); !at_end() && peek() != '"';)
		token.text +=
		    character("nrt\"\\", "\n\r\t\"\\", R"(unknown escape; use one of \n \r \t \" \\ and \xHH)");
	if (!accept("\""))
		refuse(token.position, "this string does not end: a \" is missing");
}

void Lexer::quoted_name(Token &token)
{
	token.kind = Token::Kind::quoted_name;
	skip();
	if (!skip_to("`"))
		refuse(token.position, "this name does not end: a ` is missing");
	token.text = since(token.position.offset + 1);
	skip();
}

void Lexer::sign(Token &token)
{
	token.kind = Token::Kind::sign;
	token.text = accept_one(signs);
	if (!token.text.empty())
		return;
	if (peek() == '=')
		refuse(token.position, "a comparison for equality is written ==");
	if (peek() == '\'')
		refuse(token.position, "strings are written in double quotes");
	refuse(token.position, fmt::format("{} is not part of the language", readable(rest().substr(0, 1))));
}

} // namespace monitor::filter
