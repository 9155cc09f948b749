// SPDX-License-Identifier: MIT
// Which parts of a text are its own, and which are in quotes or brackets: for what is divided by words and signs that
// may also occur in the parts. Used by the readers of triggers and of --count and --time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace monitor {

struct Outside {
	std::vector<bool>
	    is_at; // by byte: in no quotes ("...", '...', `...`, with \ before any byte) and no ( ) or { }
	bool has_open_quote = false;
};

inline Outside outside_of(std::string_view text)
{
	Outside outside{std::vector<bool>(text.size()), false};
	char quote = 0;
	int depth = 0;
	for (std::size_t at = 0; at < text.size(); ++at) {
		const char c = text[at];
		if (quote) {
			at += c == '\\';
			quote = c == quote ? 0 : quote;
			continue;
		}
		if (c == '"' || c == '\'' || c == '`')
			quote = c;
		depth -= (c == ')' || c == '}') && depth > 0;
		outside.is_at[at] = !quote && depth == 0;
		depth += c == '(' || c == '{';
	}
	outside.has_open_quote = quote != 0;
	return outside;
}

} // namespace monitor
