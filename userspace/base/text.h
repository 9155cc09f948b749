// SPDX-License-Identifier: MIT
// Fast formatting of numbers and names: what the listing writes per event.
//
// Every put_* writes at `out` without a check and returns the end of what it wrote; the caller has reserved the space
// given by the constants below. Invariant: no byte of an untrusted text reaches a terminal or a JSON reader as anything
// but a printable character.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "escape.h"

namespace monitor {

// The maximum for one number; for escaped text see escape.h (plus the quotes).
inline constexpr std::size_t max_number_chars = 20;

extern const char digit_pairs[201];

inline char *put(char *out, std::string_view text)
{
	std::memcpy(out, text.data(), text.size());
	return out + text.size();
}

inline char *put_pair(char *out, unsigned below_100)
{
	std::memcpy(out, digit_pairs + 2 * below_100, 2);
	return out + 2;
}

char *put_unsigned(char *out, std::uint64_t value);
char *put_signed(char *out, std::int64_t value);
// 0x and the digits needed
char *put_hex(char *out, std::uint64_t value);
// sixteen digits
char *put_hex_word(char *out, std::uint64_t value);
// nine digits
char *put_nanoseconds(char *out, std::uint32_t below_second);

// Letters, digits and the like only: needs neither quotes nor escapes.
bool is_plain(std::string_view text);
// In quotes, with readable escapes; put_json(): as a JSON string.
char *put_quoted(char *out, std::string_view text);
char *put_json(char *out, std::string_view text);

// Plain text unchanged, other text quoted.
std::string readable(std::string_view text);
std::string json_text(std::string_view text);

} // namespace monitor
