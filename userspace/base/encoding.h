// SPDX-License-Identifier: MIT
// Bytes as text, and back: hexadecimal digits, UUIDs, base64 (RFC 4648); characters as UTF-8; random bytes from the
// kernel. Parsers accept untrusted text, and only what the matching function writes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace monitor {

std::string to_hex(std::span<const std::byte> bytes);
// `bits` random bits (a multiple of 8, at most 512). Throws Error.
std::string random_hex(unsigned bits);

using Uuid = std::array<std::uint8_t, 16>;
Uuid random_uuid();                        // of version 4 (RFC 4122); throws Error
std::string uuid_text(const Uuid &uuid);   // e53c4c3f-0000-41ee-8123-0123456789ab
std::string uuid_digits(const Uuid &uuid); // without the hyphens
// With or without hyphens. False: not a UUID.
bool parse_uuid(std::string_view untrusted_text, Uuid &uuid);

// What is no character (a surrogate, or above U+10FFFF) becomes U+FFFD.
void append_utf8(std::string &text, char32_t character);

std::string to_base64(std::string_view bytes);
// Empty unless it is what to_base64() writes.
std::optional<std::string> from_base64(std::string_view untrusted_text);

} // namespace monitor
