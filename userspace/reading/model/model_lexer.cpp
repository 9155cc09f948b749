// SPDX-License-Identifier: MIT
#include "model_lexer.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/text.h"

namespace monitor::model {
namespace {

bool is_of_word(char c)
{
	return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
}

} // namespace

void Lexer::advance()
{
	scanner_.take_any(" \t\r");
	if (scanner_.peek() == '#')
		scanner_.skip(scanner_.rest().find('\n'));
	token_ = {Token::Kind::end, scanner_.position(), {}};
	if (scanner_.at_end())
		return;
	const char first = scanner_.take();
	token_.kind = Token::Kind::sign;
	token_.text = first;
	if (first == '\n') {
		token_.kind = Token::Kind::newline;
	} else if (first == '"') {
		token_.kind = Token::Kind::quoted_name;
		token_.text.clear();
		while (!scanner_.accept("\"")) {
			if (scanner_.at_end() || scanner_.peek() == '\n')
				refuse("this name has no closing quote in its line");
			token_.text +=
			    scanner_.character("\\\"ntr", "\\\"\n\t\r", "after \\ is one of \\ \" n t r xHH");
		}
		if (token_.text.empty())
			refuse("a name has at least one character");
	} else if (is_of_word(first)) {
		token_.kind = is_letter(first) ? Token::Kind::word : Token::Kind::number;
		while (is_of_word(scanner_.peek()))
			token_.text += scanner_.take();
	}
}

Token Lexer::take()
{
	Token taken = std::move(token_);
	advance();
	return taken;
}

bool Lexer::accept(std::string_view word_or_sign)
{
	const bool is_next = is(word_or_sign);
	if (is_next)
		advance();
	return is_next;
}

std::string Lexer::shown() const
{
	if (token_.kind == Token::Kind::end)
		return "the end of the text";
	return token_.kind == Token::Kind::newline ? "the end of the line" : readable(token_.text);
}

void Lexer::expect(std::string_view word_or_sign)
{
	if (!accept(word_or_sign))
		refuse(fmt::format("`{}` is expected before {}", word_or_sign, shown()));
}

void Lexer::skip_newlines()
{
	while (token_.kind == Token::Kind::newline)
		advance();
}

std::string Lexer::take_line()
{
	std::string line(scanner_.since(token_.position.offset));
	line += scanner_.skip(scanner_.rest().find('\n'));
	advance();
	return trimmed(line);
}

std::string Lexer::name(const char *what)
{
	if (!is_name())
		refuse(fmt::format("the name of {} is expected before {}", what, shown()));
	return take().text;
}

std::uint64_t Lexer::number(const char *what, std::uint64_t from, std::uint64_t to)
{
	std::uint64_t value = 0;
	const char *const begin = token_.text.data(), *const end = begin + token_.text.size();
	const auto [rest, error] = std::from_chars(begin, end, value);
	if (token_.kind != Token::Kind::number || error != std::errc() || rest != end || value < from || value > to)
		refuse(fmt::format("{} is a number from {} to {}, not {}", what, from, to, shown()));
	advance();
	return value;
}

double Lexer::probability()
{
	double value = 0;
	const char *const begin = token_.text.data(), *const end = begin + token_.text.size();
	const auto [rest, error] = std::from_chars(begin, end, value);
	if (token_.kind != Token::Kind::number || error != std::errc() || rest != end || !(value >= 0 && value <= 1))
		refuse(fmt::format("a probability is from 0 to 1, not {}", shown()));
	advance();
	return value;
}

std::uint64_t Lexer::duration()
{
	const auto ns = token_.kind == Token::Kind::number ? ns_of(token_.text) : std::nullopt;
	if (!ns || *ns < 0)
		refuse(fmt::format("{} is not a duration, such as 120us", shown()));
	advance();
	return static_cast<std::uint64_t>(*ns);
}

} // namespace monitor::model
