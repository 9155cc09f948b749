// SPDX-License-Identifier: MIT
#include "metadata.h"

#include <cstdint>
#include <string_view>

#include "field_class.h"

namespace monitor::trace {
namespace {

// The header of a metadata packet, in bytes: magic, uuid[16], checksum, content_size, packet_size (in bits),
// compression, encryption, checksum scheme, major, minor.
constexpr std::uint64_t magic = 0x75D11D57;
constexpr std::size_t content_at = 24, packet_at = 28, compression_at = 32, major_at = 35, minor_at = 36,
		      header_bytes = 37;

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at, bool big_endian)
{
	return read_bits(bytes.data() + at, 0, 32, big_endian);
}

// Appends the text of the first packet and removes the packet. Returns an error, or nullptr.
const char *take_packet(std::span<const std::byte> &bytes, bool big_endian, std::string &text)
{
	if (bytes.size() < header_bytes)
		return "ends in the middle of a packet's header";
	if (number_at(bytes, 0, big_endian) != magic)
		return "has no packet where one should begin (its magic is missing)";
	const std::uint64_t content_bytes = number_at(bytes, content_at, big_endian) / 8;
	const std::uint64_t packet_bytes = number_at(bytes, packet_at, big_endian) / 8;
	for (std::size_t at = compression_at; at < major_at; ++at)
		if (bytes[at] != std::byte{0})
			return "is compressed, encrypted or has checksums, which is not supported";
	const bool is_ctf_2 = bytes[major_at] == std::byte{2} && bytes[minor_at] == std::byte{0};
	if (!is_ctf_2 && (bytes[major_at] != std::byte{1} || bytes[minor_at] != std::byte{8}))
		return "is of a version other than CTF 1.8 and CTF 2";
	if (content_bytes < header_bytes || content_bytes > packet_bytes || packet_bytes > bytes.size())
		return "has a packet whose content is not inside it";
	text.append(reinterpret_cast<const char *>(bytes.data()) + header_bytes, content_bytes - header_bytes);
	bytes = bytes.subspan(packet_bytes);
	return nullptr;
}

} // namespace

// A plain text has its version in a comment at its start; many hand-written ones lack it, which is harmless.
static bool is_of_another_version(std::string_view text)
{
	constexpr std::string_view signature = "/* CTF ";
	return text.starts_with(signature) && !text.substr(signature.size()).starts_with("1.8");
}

bool metadata_text(std::span<const std::byte> untrusted_bytes, std::string &text, std::string &why, TextForm &form)
{
	std::span<const std::byte> left = untrusted_bytes;
	const bool big_endian = left.size() >= 4 && number_at(left, 0, true) == magic;
	if (!big_endian && (left.size() < 4 || number_at(left, 0, false) != magic)) {
		text.assign(reinterpret_cast<const char *>(left.data()), left.size());
		form = TextForm::plain;
		why = "line 1, column 1: a version other than CTF 1.8 is not supported";
		return !is_of_another_version(text);
	}
	text.clear();
	form = big_endian ? TextForm::big_endian : TextForm::little_endian;
	while (!left.empty())
		if (const char *sentence = take_packet(left, big_endian, text)) {
			why = sentence;
			return false;
		}
	return true;
}

} // namespace monitor::trace
