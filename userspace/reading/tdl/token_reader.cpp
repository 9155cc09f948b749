// SPDX-License-Identifier: MIT
#include "token_reader.h"

#include "base/text.h"
#include "names.h"

namespace monitor::trace::tdl {

bool TokenReader::take_words(std::initializer_list<std::string_view> words)
{
	std::size_t ahead = 0;
	for (const std::string_view word : words)
		if (!peek(ahead++).is(word))
			return false;
	for (std::size_t i = 0; i < words.size(); ++i)
		take();
	return true;
}

void TokenReader::expect_words(std::initializer_list<std::string_view> words)
{
	for (const std::string_view word : words) {
		if (!peek().is(word))
			fail("`" + std::string(word) + "`", {std::string(word)});
		take();
	}
}

void TokenReader::expect_line_end()
{
	if (!at_line_end())
		fail("the end of the line");
	take();
}

std::uint64_t TokenReader::number(const std::string &what)
{
	if (peek().kind != Token::Kind::number || peek().is_negative)
		fail(what);
	return take().number;
}

std::uint64_t TokenReader::positive(const std::string &what)
{
	if (peek().kind != Token::Kind::number || peek().is_negative || peek().number == 0)
		fail(what);
	return take().number;
}

Name TokenReader::name(const std::string &what)
{
	if (peek().kind != Token::Kind::word)
		fail(what);
	const Token token = take();
	return {token.position, token.text};
}

std::string TokenReader::optional_text()
{
	return peek().kind == Token::Kind::text ? take().text : std::string();
}

void TokenReader::fail(const std::string &what, const std::vector<std::string> &known) const
{
	const Token &token = peek();
	const std::string found = at_line_end() ? "the end of the line" : readable(token.text);
	const std::string hint = token.kind == Token::Kind::word ? did_you_mean(token.text, known) : "";
	throw ParseError(token.position, "expected " + what + " here, not " + found + hint);
}

} // namespace monitor::trace::tdl
