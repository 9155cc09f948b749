// SPDX-License-Identifier: MIT
#include "encoding.h"

#include <algorithm>
#include <cerrno>

#include <sys/random.h>

#include "error.h"
#include "escape.h"
#include "scanner.h"

namespace monitor {
namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t max_base64_bytes = 1 << 20;

void fill_random(std::span<std::uint8_t> bytes)
{
	if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
		throw Error(errno, "cannot get random numbers from the kernel");
}

} // namespace

std::string to_hex(std::span<const std::byte> bytes)
{
	std::string text;
	for (const std::byte byte : bytes) {
		text += hex_digits[std::to_integer<unsigned>(byte) >> 4];
		text += hex_digits[std::to_integer<unsigned>(byte) & 15];
	}
	return text;
}

std::string random_hex(unsigned bits)
{
	std::array<std::uint8_t, 64> bytes;
	const auto random = std::span(bytes).first(std::min<std::size_t>(bits / 8, bytes.size()));
	fill_random(random);
	return to_hex(std::as_bytes(random));
}

Uuid random_uuid()
{
	Uuid uuid;
	fill_random(uuid);
	uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0f) | 0x40);
	uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3f) | 0x80);
	return uuid;
}

std::string uuid_text(const Uuid &uuid)
{
	std::string text = uuid_digits(uuid);
	for (const std::size_t at : {20, 16, 12, 8})
		text.insert(at, 1, '-');
	return text;
}

std::string uuid_digits(const Uuid &uuid)
{
	return to_hex(std::as_bytes(std::span(uuid)));
}

bool parse_uuid(std::string_view untrusted_text, Uuid &uuid)
{
	std::size_t digits = 0;
	for (const char c : untrusted_text) {
		if (c == '-')
			continue;
		const unsigned value = digit_value(c);
		if (value > 15 || digits == 2 * uuid.size())
			return false;
		std::uint8_t &byte = uuid[digits / 2];
		byte = static_cast<std::uint8_t>(digits++ % 2 ? byte << 4 | value : value);
	}
	return digits == 2 * uuid.size();
}

void append_utf8(std::string &text, char32_t character)
{
	constexpr std::array<std::uint32_t, 4> first_byte = {0, 0xc0, 0xe0, 0xf0}; // by their number
	const bool is_valid = character < 0xd800 || (character >= 0xe000 && character <= 0x10ffff);
	const std::uint32_t c = is_valid ? character : 0xfffd;
	const unsigned continuation_bytes = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	text += static_cast<char>(first_byte[continuation_bytes] | c >> 6 * continuation_bytes);
	for (unsigned left = continuation_bytes; left-- > 0;)
		text += static_cast<char>(0x80 | (c >> 6 * left & 0x3f));
}

std::string to_base64(std::string_view bytes)
{
	std::string text;
	text.reserve((bytes.size() + 2) / 3 * 4);
	for (std::size_t i = 0; i < bytes.size(); i += 3) {
		std::uint32_t bits = 0;
		for (std::size_t k = 0; k < 3; ++k)
			bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
		for (std::size_t k = 0; k < 4; ++k)
			text += i + k <= bytes.size() ? base64_digits[bits >> (18 - 6 * k) & 63] : '=';
	}
	return text;
}

std::optional<std::string> from_base64(std::string_view untrusted_text)
{
	if (untrusted_text.size() % 4 != 0 || untrusted_text.size() > max_base64_bytes)
		return {};
	std::string bytes;
	for (std::size_t i = 0; i < untrusted_text.size(); i += 4) {
		std::uint32_t bits = 0;
		for (const char digit : untrusted_text.substr(i, 4))
			bits = bits << 6 | (base64_digits.find(digit) & 63);
		for (const int shift : {16, 8, 0})
			bytes += static_cast<char>(bits >> shift);
	}
	const std::size_t padding = untrusted_text.ends_with("==") ? 2 : untrusted_text.ends_with('=') ? 1 : 0;
	bytes.resize(bytes.size() - padding);
	// Rejects other characters, excess padding and nonzero unused bits.
	return to_base64(bytes) == untrusted_text ? std::optional(bytes) : std::nullopt;
}

} // namespace monitor
