// SPDX-License-Identifier: MIT
#include "escape.h"

#include <algorithm>

#include "text.h"

namespace monitor {
namespace {

// Length of the UTF-8 sequence that starts here, including control characters; 0 if there is none.
std::size_t utf8_length(std::string_view text)
{
	const auto at = [&](std::size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
	const unsigned lead = at(0);
	const std::size_t length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
	if (lead > 0xf4 || length == 0 || text.size() < length)
		return 0;
	for (std::size_t i = 1; i < length; ++i)
		if ((at(i) & 0xc0) != 0x80)
			return 0;
	const bool overlong = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xf0 && at(1) < 0x90);
	const bool outside = (lead == 0xed && at(1) >= 0xa0) || (lead == 0xf4 && at(1) >= 0x90);
	return overlong || outside ? 0 : length;
}

char *put_hex_byte(char *out, std::string_view before, unsigned char c)
{
	out = put(out, before);
	*out++ = hex_digits[c >> 4];
	*out++ = hex_digits[c & 15];
	return out;
}

// For text that is neither ASCII nor escaped elsewhere: consumes one character, or one byte that is not part of one.
char *put_beyond_ascii(char *out, std::string_view &text, bool json)
{
	const std::size_t length = utf8_length(text);
	const auto second = static_cast<unsigned char>(length == 2 ? text[1] : 0);
	const bool is_control = text[0] == '\xc2' && second != 0 && second < 0xa0;
	if (length > 0 && !is_control) {
		out = put(out, text.substr(0, length));
		text.remove_prefix(length);
	} else if (json) {
		out = is_control ? put_hex_byte(out, "\\u00", second) : put(out, "\\ufffd");
		text.remove_prefix(is_control ? 2 : 1);
	} else {
		out = put_hex_byte(out, "\\x", static_cast<unsigned char>(text[0]));
		text.remove_prefix(1);
	}
	return out;
}

} // namespace

bool is_utf8(std::string_view text)
{
	while (!text.empty()) {
		const std::size_t length = static_cast<unsigned char>(text.front()) < 0x80 ? 1 : utf8_length(text);
		if (!length)
			return false;
		text.remove_prefix(length);
	}
	return true;
}

char *put_escaped(char *out, std::string_view text, Escape how)
{
	const bool json = how == Escape::json || how == Escape::dumped;
	const bool quotes = how == Escape::json || how == Escape::quoted;
	const bool lines = how == Escape::lines || how == Escape::dumped;
	while (!text.empty()) {
		const char c = text.front();
		if (static_cast<unsigned char>(c) >= 0x80) {
			out = put_beyond_ascii(out, text, json);
			continue;
		}
		text.remove_prefix(1);
		if (c >= ' ' && c != 0x7f) {
			if (quotes && (c == '"' || c == '\\'))
				*out++ = '\\';
			*out++ = c;
		} else if (c != '\n' && c != '\t') {
			out = put_hex_byte(out, json ? "\\u00" : "\\x", static_cast<unsigned char>(c));
		} else if (lines) {
			*out++ = c;
		} else {
			*out++ = '\\';
			*out++ = c == '\n' ? 'n' : 't';
		}
	}
	return out;
}

std::string escaped(std::string_view text, Escape how)
{
	const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
	if (is_plain && how != Escape::quoted && how != Escape::json) // nearly all are
		return std::string(text);
	std::string made(text.size() * max_escaped_chars, '\0');
	made.resize(static_cast<std::size_t>(put_escaped(made.data(), text, how) - made.data()));
	return made;
}

} // namespace monitor
