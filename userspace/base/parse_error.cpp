// SPDX-License-Identifier: MIT
#include "parse_error.h"

#include <algorithm>

#include "escape.h"
#include "text_width.h"

namespace monitor {
namespace {

// How much of a long text is shown on either side of the position.
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

TextPosition position_in_line(std::string_view text, std::size_t at)
{
	return {1, static_cast<std::uint32_t>(characters(text.substr(0, at)) + 1), static_cast<std::uint32_t>(at)};
}

// On one line.
std::string shown(std::string_view text)
{
	std::string line(text);
	std::replace_if(
	    line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
	return printable(line);
}

std::string with_caret(std::string_view text, std::size_t at)
{
	std::size_t begin = at > shown_bytes ? at - shown_bytes : 0;
	std::size_t end = std::min(text.size(), at + shown_bytes);
	while (begin > 0 && continues_character(text[begin]))
		--begin;
	while (end < text.size() && continues_character(text[end]))
		++end;
	const std::string before = begin > 0 ? "... " : "", after = end < text.size() ? " ..." : "";
	const std::size_t left = before.size() + text_width(shown(text.substr(begin, at - begin)));
	return "  " + before + shown(text.substr(begin, end - begin)) + after + "\n  " + std::string(left, ' ') + '^';
}

} // namespace

ParseError::ParseError(const std::string &subject, std::string_view untrusted_text, std::size_t at,
		       const std::string &sentence)
    : ParseError(position_in_line(untrusted_text, at), sentence,
		 subject + ", column " + std::to_string(position_in_line(untrusted_text, at).column) + ": " + sentence +
		     '\n' + with_caret(untrusted_text, at))
{
}

} // namespace monitor
