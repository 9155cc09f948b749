// SPDX-License-Identifier: MIT
#include "scanner.h"

#include <algorithm>
#include <limits>

namespace monitor {

bool has_word(std::string_view text, std::string_view word)
{
	const auto is_of_word = [text](std::size_t at) {
		return at < text.size() && (is_letter(text[at]) || is_digit(text[at]));
	};
	for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
		if (!is_of_word(at - 1) && !is_of_word(at + word.size()))
			return true;
	return false;
}

bool is_name(std::string_view text, std::string_view others)
{
	return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [others](char c) {
		return is_letter(c) || is_digit(c) || others.find(c) != std::string_view::npos;
	});
}

std::string trimmed(std::string_view text)
{
	constexpr std::string_view blanks = " \t\r\n";
	const std::size_t first = text.find_first_not_of(blanks), last = text.find_last_not_of(blanks);
	return first == std::string_view::npos ? "" : std::string(text.substr(first, last + 1 - first));
}

std::string_view take_until(std::string_view &text, char separator)
{
	const std::string_view part = text.substr(0, text.find(separator));
	text.remove_prefix(std::min(part.size() + 1, text.size()));
	return part;
}

std::vector<std::string> split(std::string_view list)
{
	std::vector<std::string> parts;
	for (std::size_t at = 0; at <= list.size();) {
		const std::size_t comma = std::min(list.find(',', at), list.size());
		parts.emplace_back(list.substr(at, comma - at));
		at = comma + 1;
	}
	return parts;
}

std::string_view Scanner::skip(std::size_t count)
{
	const std::size_t begin = at_;
	for (count = std::min(count, text_.size() - at_); count > 0; --count)
		take();
	return since(begin);
}

bool Scanner::skip_to(std::string_view text)
{
	const std::size_t found = rest().find(text);
	skip(found);
	return found != std::string_view::npos;
}

bool Scanner::accept(std::string_view text)
{
	const bool is_next = rest().starts_with(text);
	skip(is_next ? text.size() : 0);
	return is_next;
}

std::string_view Scanner::accept_one(std::span<const std::string_view> texts)
{
	const auto is_next = [this](std::string_view text) { return rest().starts_with(text); };
	const auto found = std::find_if(texts.begin(), texts.end(), is_next);
	return skip(found == texts.end() ? 0 : found->size());
}

std::string_view Scanner::identifier()
{
	const std::size_t begin = at_;
	while (is_in_word())
		++at_;
	return since(begin);
}

std::optional<std::uint64_t> Scanner::digits(unsigned base, std::size_t max_digits)
{
	std::uint64_t value = 0;
	for (; max_digits > 0 && digit_value(peek()) < base; --max_digits) {
		const unsigned digit = digit_value(take());
		if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / base)
			return std::nullopt;
		value = value * base + digit;
	}
	return value;
}

char Scanner::character(std::string_view letters, std::string_view meanings, const char *refusal)
{
	const TextPosition begin = position();
	if (!accept("\\"))
		return take();
	if (peek() == 'x' && digit_value(peek(1)) < 16 && digit_value(peek(2)) < 16) {
		skip();
		return static_cast<char>(*digits(16, 2));
	}
	const std::size_t known = letters.find(peek());
	if (known == std::string_view::npos)
		refuse(begin, refusal);
	skip();
	return meanings[known];
}

void Scanner::refuse(TextPosition position, const std::string &sentence) const
{
	if (subject_)
		throw ParseError(subject_, text_, position.offset, sentence);
	throw ParseError(position, sentence);
}

} // namespace monitor
