// SPDX-License-Identifier: MIT
#include "quoting.h"

#include <algorithm>

#include "scanner.h"

namespace monitor {

static constexpr std::string_view blanks = " \t\r\n";

Outside::Outside(std::string_view untrusted_text) : text_(untrusted_text), is_outside_(text_.size())
{
	int depth = 0;
	for (std::size_t at = 0; at < text_.size(); ++at) {
		const char c = text_[at];
		if (open_quote_ != npos) {
			at += c == '\\';
			open_quote_ = c == text_[open_quote_] ? npos : open_quote_;
			continue;
		}
		if (c == '"' || c == '\'' || c == '`')
			open_quote_ = at;
		depth -= (c == ')' || c == '}') && depth > 0;
		is_outside_[at] = open_quote_ == npos && depth == 0;
		if (c == '(' || c == '{')
			open_bracket_ = depth++ ? open_bracket_ : at;
		else if (depth == 0)
			open_bracket_ = npos;
	}
}

std::size_t Outside::match_end(std::string_view what, std::size_t at) const
{
	const auto is_of_word = [this](std::size_t position) {
		return is_letter(text_[position]) || is_digit(text_[position]);
	};
	if (!is_outside_[at] || (is_letter(what.front()) && at > 0 && (is_of_word(at - 1) || text_[at - 1] == '.')))
		return npos;
	std::size_t end = at;
	for (const char c : what) {
		const std::size_t before = end;
		if (c == ' ')
			end = std::min(text_.find_first_not_of(blanks, end), text_.size());
		else
			end += end < text_.size() && text_[end] == c;
		if (end == before)
			return npos;
	}
	return is_letter(what.back()) && end < text_.size() && is_of_word(end) ? npos : end;
}

std::size_t Outside::find(std::string_view what) const
{
	std::size_t at = 0;
	while (at < text_.size() && match_end(what, at) == npos)
		++at;
	return at < text_.size() ? at : npos;
}

Outside::Part Outside::part(std::string_view separator, std::size_t begin, std::size_t end) const
{
	const std::size_t at = std::min(text_.find_first_not_of(blanks, begin), end);
	return {separator, at, trimmed(text_.substr(at, end - at))};
}

std::vector<Outside::Part> Outside::split(std::initializer_list<std::string_view> separators) const
{
	std::vector<Part> parts;
	std::string_view before;
	std::size_t begin = 0;
	for (std::size_t at = 0; at < text_.size(); ++at)
		for (const std::string_view separator : separators)
			if (const std::size_t end = match_end(separator, at); at >= begin && end != npos) {
				parts.push_back(part(before, begin, at));
				before = separator;
				begin = end;
			}
	parts.push_back(part(before, begin, text_.size()));
	return parts;
}

} // namespace monitor
