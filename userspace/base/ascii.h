// SPDX-License-Identifier: MIT
// Character classes of names and numbers, independent of the locale. Used by the lexers.
#pragma once

namespace monitor {

inline bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

// 0 to 15; 255 if it is not a digit in any base up to 16.
inline unsigned digit_value(char c)
{
	if (is_digit(c))
		return static_cast<unsigned>(c - '0');
	if (c >= 'a' && c <= 'f')
		return static_cast<unsigned>(c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return static_cast<unsigned>(c - 'A' + 10);
	return 255;
}

} // namespace monitor
