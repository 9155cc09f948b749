// SPDX-License-Identifier: MIT
#include "error.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/escape.h"

namespace monitor::filter {
namespace {

// How much of a long expression is shown on either side of the error.
constexpr std::size_t shown_bytes = 50;

bool continues_character(char c)
{
	return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

std::size_t characters(std::string_view text)
{
	return static_cast<std::size_t>(
	    std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

// As one line.
std::string shown(std::string_view text)
{
	std::string line(text);
	std::replace_if(
	    line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
	return printable(line);
}

std::string with_caret(std::string_view expression, std::size_t at)
{
	std::size_t begin = at > shown_bytes ? at - shown_bytes : 0;
	std::size_t end = std::min(expression.size(), at + shown_bytes);
	while (begin > 0 && continues_character(expression[begin]))
		--begin;
	while (end < expression.size() && continues_character(expression[end]))
		++end;
	const std::string_view before = begin > 0 ? "... " : "", after = end < expression.size() ? " ..." : "";
	const std::size_t left = before.size() + characters(shown(expression.substr(begin, at - begin)));
	return fmt::format("  {}{}{}\n  {}^", before, shown(expression.substr(begin, end - begin)), after,
			   std::string(left, ' '));
}

} // namespace

FilterError::FilterError(std::string_view expression, std::size_t at, const std::string &sentence)
    : Error(fmt::format("filter, column {}: {}\n{}", characters(expression.substr(0, at)) + 1, sentence,
			with_caret(expression, at))),
      column_(characters(expression.substr(0, at)) + 1), sentence_(sentence)
{
}

} // namespace monitor::filter
