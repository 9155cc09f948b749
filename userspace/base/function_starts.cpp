// SPDX-License-Identifier: MIT
#include "function_starts.h"

#include <algorithm>
#include <array>
#include <span>

#include "load.h"
#include "text.h"

namespace monitor {
namespace {

constexpr std::size_t max_table_bytes = 64 << 20, head_bytes = 12, entry_bytes = 8;
// Version; encodings of the pointer to .eh_frame (pcrel sdata4), of the count (udata4), of the table (datarel sdata4).
constexpr std::array usual_encoding = {std::byte{1}, std::byte{0x1b}, std::byte{0x03}, std::byte{0x3b}};

} // namespace

std::vector<FunctionExtent> function_extents(const ElfImage &image)
{
	const ElfSection *header = image.section(".eh_frame_hdr"), *text = image.section(".text");
	std::vector<FunctionExtent> functions;
	const std::vector<std::byte> bytes = image.content(".eh_frame_hdr", max_table_bytes);
	if (!text || bytes.size() < head_bytes || !std::ranges::equal(std::span(bytes).first(4), usual_encoding))
		return functions;
	for (std::size_t at = head_bytes; at + entry_bytes <= bytes.size(); at += entry_bytes) {
		const std::int64_t distance = load<std::int32_t>(bytes.data() + at);
		const std::uint64_t address = header->address + static_cast<std::uint64_t>(distance);
		if (address - text->address < text->size)
			functions.push_back({address, text->address + text->size - address});
	}
	std::ranges::sort(functions, {}, &FunctionExtent::address);
	const auto same = [](const FunctionExtent &a, const FunctionExtent &b) { return a.address == b.address; };
	functions.erase(std::unique(functions.begin(), functions.end(), same), functions.end());
	for (std::size_t i = 0; i + 1 < functions.size(); ++i)
		functions[i].size = functions[i + 1].address - functions[i].address;
	return functions;
}

std::string unnamed_function(const std::string &file, std::uint64_t address)
{
	std::array<char, 2 + 2 * sizeof address> text;
	return file + "+" + std::string(text.data(), put_hex(text.data(), address));
}

} // namespace monitor
