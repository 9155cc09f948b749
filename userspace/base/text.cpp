// SPDX-License-Identifier: MIT
#include "text.h"

namespace monitor {
namespace {

struct PlainTable {
	bool plain[256] = {};
	constexpr PlainTable()
	{
		constexpr std::string_view others = "_-./:+@%~#<>[]*!?&;$^|";
		for (unsigned c = 0; c < 256; ++c)
			plain[c] = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		for (const char c : others)
			plain[static_cast<unsigned char>(c)] = true;
	}
};
constexpr PlainTable plain_table;

} // namespace

const char digit_pairs[201] =
    "000102030405060708091011121314151617181920212223242526272829303132333435363738394041424344454647484950515253545556"
    "57585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

// Converts a value below 10^8 to a 32.32 fixed-point number: its integer part is the first pair of digits, times 100
// gives the next. The factors are rounded up so little that no pair is wrong (Anhalt, "jeaiii_to_text", 2022).
static std::uint64_t to_fixed_point(std::uint32_t below_100_million)
{
	return (std::uint64_t(below_100_million) * 281'474'978 >> 16) + 1;
}

static char *put_next_pairs(char *out, std::uint64_t point, int pairs)
{
	while (pairs-- > 0) {
		point = (point & 0xffff'ffff) * 100;
		out = put_pair(out, static_cast<unsigned>(point >> 32));
	}
	return out;
}

static char *put_eight_digits(char *out, std::uint32_t value)
{
	const std::uint64_t point = to_fixed_point(value);
	return put_next_pairs(put_pair(out, static_cast<unsigned>(point >> 32)), point, 3);
}

// Without leading zeros.
static char *put_up_to_eight_digits(char *out, std::uint32_t value)
{
	const int pairs = value < 100 ? 0 : value < 10'000 ? 1 : value < 1'000'000 ? 2 : 3;
	const std::uint64_t point = pairs == 0   ? std::uint64_t(value) << 32
				    : pairs == 1 ? std::uint64_t(value) * 42'949'673
				    : pairs == 2 ? std::uint64_t(value) * 429'497
						 : to_fixed_point(value);
	const auto first = static_cast<unsigned>(point >> 32);
	if (first < 10)
		*out++ = static_cast<char>('0' + first);
	else
		out = put_pair(out, first);
	return put_next_pairs(out, point, pairs);
}

char *put_unsigned(char *out, std::uint64_t value)
{
	constexpr std::uint64_t eight_digits = 100'000'000;
	if (value < eight_digits)
		return put_up_to_eight_digits(out, static_cast<std::uint32_t>(value));
	const std::uint64_t high = value / eight_digits;
	if (high < eight_digits)
		out = put_up_to_eight_digits(out, static_cast<std::uint32_t>(high));
	else
		out = put_eight_digits(put_up_to_eight_digits(out, static_cast<std::uint32_t>(high / eight_digits)),
				       static_cast<std::uint32_t>(high % eight_digits));
	return put_eight_digits(out, static_cast<std::uint32_t>(value % eight_digits));
}

char *put_signed(char *out, std::int64_t value)
{
	auto magnitude = static_cast<std::uint64_t>(value);
	if (value < 0) {
		*out++ = '-';
		magnitude = 0 - magnitude;
	}
	return put_unsigned(out, magnitude);
}

char *put_hex(char *out, std::uint64_t value)
{
	*out++ = '0';
	*out++ = 'x';
	for (int shift = (63 - __builtin_clzll(value | 1)) / 4 * 4; shift >= 0; shift -= 4)
		*out++ = hex_digits[value >> shift & 15];
	return out;
}

char *put_hex_word(char *out, std::uint64_t value)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		*out++ = hex_digits[value >> shift & 15];
	return out;
}

char *put_nanoseconds(char *out, std::uint32_t below_second)
{
	const std::uint32_t high = below_second / 10000, low = below_second % 10000; // five digits, four digits
	*out++ = static_cast<char>('0' + high / 10000);
	out = put_pair(out, high / 100 % 100);
	out = put_pair(out, high % 100);
	out = put_pair(out, low / 100);
	return put_pair(out, low % 100);
}

bool is_plain(std::string_view text)
{
	for (const char c : text)
		if (!plain_table.plain[static_cast<unsigned char>(c)])
			return false;
	return !text.empty();
}

static char *put_in_quotes(char *out, std::string_view text, Escape how)
{
	*out++ = '"';
	out = put_escaped(out, text, how);
	*out++ = '"';
	return out;
}

char *put_quoted(char *out, std::string_view text)
{
	return put_in_quotes(out, text, Escape::quoted);
}

char *put_json(char *out, std::string_view text)
{
	return put_in_quotes(out, text, Escape::json);
}

std::string readable(std::string_view text)
{
	return is_plain(text) ? std::string(text) : '"' + escaped(text, Escape::quoted) + '"';
}

std::string json_text(std::string_view text)
{
	return '"' + escaped(text, Escape::json) + '"';
}

} // namespace monitor
