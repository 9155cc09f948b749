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

// Characters that are invisible or change how the rest of a line is shown: line and paragraph separators, and category
// Cf except what scripts need (joiners, signs that enclose numbers).
bool is_format(char32_t c)
{
	return c == 0xad || c == 0x61c || c == 0x180e || c == 0x200b || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfff9 && c <= 0xfffb) || (c >= 0x1bca0 && c <= 0x1bca3) || (c >= 0x1d173 && c <= 0x1d17a) ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

// Decodes a UTF-8 sequence of more than one byte.
char32_t character_of(std::string_view sequence)
{
	char32_t c = static_cast<unsigned char>(sequence[0]) & (0x7fu >> sequence.size());
	for (const char byte : sequence.substr(1))
		c = c << 6 | (static_cast<unsigned char>(byte) & 0x3f);
	return c;
}

char *put_hex_byte(char *out, std::string_view before, unsigned char c)
{
	out = put(out, before);
	*out++ = hex_digits[c >> 4];
	*out++ = hex_digits[c & 15];
	return out;
}

// \uHHHH, or a UTF-16 surrogate pair.
char *put_json_escape(char *out, char32_t c)
{
	if (c > 0xffff) {
		out = put_json_escape(out, 0xd7c0 + (c >> 10));
		c = 0xdc00 + (c & 0x3ff);
	}
	return put_hex_byte(put_hex_byte(out, "\\u", static_cast<unsigned char>(c >> 8)), "",
			    static_cast<unsigned char>(c));
}

// Consumes one non-ASCII character, or one invalid byte.
char *put_beyond_ascii(char *out, std::string_view &text, bool json)
{
	const std::size_t length = utf8_length(text);
	const char32_t character = length > 0 ? character_of(text.substr(0, length)) : 0;
	const bool is_shown = character >= 0xa0 && !is_format(character);
	const std::size_t taken = length > 0 && (is_shown || json) ? length : 1;
	if (is_shown)
		out = put(out, text.substr(0, length));
	else if (!json)
		out = put_hex_byte(out, "\\x", static_cast<unsigned char>(text[0]));
	else
		out = length > 0 ? put_json_escape(out, character) : put(out, "\\ufffd");
	text.remove_prefix(taken);
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
	if (is_plain && how != Escape::quoted && how != Escape::json) // the usual case
		return std::string(text);
	std::string made(text.size() * max_escaped_chars, '\0');
	made.resize(static_cast<std::size_t>(put_escaped(made.data(), text, how) - made.data()));
	return made;
}

} // namespace monitor
