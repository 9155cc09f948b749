// SPDX-License-Identifier: MIT
#include "text.h"

namespace monitor::trace {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

struct Powers {
	std::uint64_t of_ten[20] = {1};
	constexpr Powers()
	{
		for (int i = 1; i < 20; ++i)
			of_ten[i] = of_ten[i - 1] * 10;
	}
};
constexpr Powers powers;

// Of a value that is not 0.
unsigned decimal_digits(std::uint64_t value)
{
	// its bits by log10(2) are its digits, or one too few
	const auto bits = static_cast<unsigned>(64 - __builtin_clzll(value));
	const unsigned few = bits * 1233 >> 12;
	return few + (value >= powers.of_ten[few]);
}

// Length of the UTF-8 sequence that begins here and is no control character; 0: none.
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
	const bool control = lead == 0xc2 && at(1) < 0xa0;
	const bool overlong = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xf0 && at(1) < 0x90);
	const bool outside = (lead == 0xed && at(1) >= 0xa0) || (lead == 0xf4 && at(1) >= 0x90);
	return control || overlong || outside ? 0 : length;
}

// A control character or a byte that is not UTF-8.
char *put_odd(char *out, unsigned char c, bool json)
{
	if (c == '\n' || c == '\t') {
		*out++ = '\\';
		*out++ = c == '\n' ? 'n' : 't';
		return out;
	}
	if (json && c >= 0x80)
		return put(out, "\\ufffd");
	out = put(out, json ? "\\u00" : "\\x");
	*out++ = hex_digits[c >> 4];
	*out++ = hex_digits[c & 15];
	return out;
}

char *put_escaped(char *out, std::string_view text, bool json)
{
	*out++ = '"';
	while (!text.empty()) {
		const auto c = static_cast<unsigned char>(text.front());
		std::size_t length = 1;
		if (c == '"' || c == '\\') {
			*out++ = '\\';
			*out++ = static_cast<char>(c);
		} else if (c >= 0x20 && c < 0x7f) {
			*out++ = static_cast<char>(c);
		} else if (c >= 0x80 && (length = utf8_length(text)) > 0) {
			out = put(out, text.substr(0, length));
		} else {
			length = 1;
			out = put_odd(out, c, json);
		}
		text.remove_prefix(length);
	}
	*out++ = '"';
	return out;
}

std::string escaped(std::string_view text, bool json)
{
	std::string made(text.size() * max_escaped_chars + 2, '\0');
	made.resize(static_cast<std::size_t>(put_escaped(made.data(), text, json) - made.data()));
	return made;
}

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

const char digit_pairs[201] = "0001020304050607080910111213141516171819"
			      "2021222324252627282930313233343536373839"
			      "4041424344454647484950515253545556575859"
			      "6061626364656667686970717273747576777879"
			      "8081828384858687888990919293949596979899";

char *put_unsigned(char *out, std::uint64_t value)
{
	if (value < 10) {
		*out = static_cast<char>('0' + value);
		return out + 1;
	}
	char *const end = out + decimal_digits(value);
	char *first = end;
	constexpr std::uint32_t eight_digits = 100'000'000; // division of 32 bits is faster
	for (; value >= eight_digits; value /= eight_digits) {
		auto low = static_cast<std::uint32_t>(value % eight_digits);
		for (int pairs = 0; pairs < 4; ++pairs, low /= 100)
			put_pair(first -= 2, low % 100);
	}
	auto high = static_cast<std::uint32_t>(value);
	for (; high >= 100; high /= 100)
		put_pair(first -= 2, high % 100);
	if (high >= 10)
		put_pair(out, high);
	else
		*out = static_cast<char>('0' + high);
	return end;
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

char *put_quoted(char *out, std::string_view text)
{
	return put_escaped(out, text, false);
}

char *put_json(char *out, std::string_view text)
{
	return put_escaped(out, text, true);
}

std::string readable(std::string_view text)
{
	return is_plain(text) ? std::string(text) : escaped(text, false);
}

std::string json_text(std::string_view text)
{
	return escaped(text, true);
}

} // namespace monitor::trace
