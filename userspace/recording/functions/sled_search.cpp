// SPDX-License-Identifier: MIT
#include "sled_search.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <elf.h>

#include "monitor/function_table.h"

namespace monitor::functions {
namespace {

constexpr std::size_t max_section_bytes = 256 << 20;
constexpr unsigned nop_bytes = 5, xray_bytes = 11, endbr_bytes = 4;

template <class T> std::vector<T> table(const ElfImage &image, const char *name)
{
	const ElfSection *section = image.section(name);
	const std::vector<std::byte> bytes =
	    section ? image.content(*section, max_section_bytes) : std::vector<std::byte>();
	std::vector<T> entries(bytes.size() / sizeof(T));
	if (!entries.empty())
		std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(T));
	return entries;
}

// XRaySledEntry of compiler-rt/include/xray/xray_interface.h; from version 2 on addresses are relative to the member
// itself.
struct XraySled {
	std::int64_t address, function;
	std::uint8_t kind, always_instrument, version, padding[13];
};
static_assert(sizeof(XraySled) == 32);

void add_xray(const ElfImage &image, std::vector<card::FunctionSled> &sleds)
{
	constexpr std::uint16_t kinds[] = {EDC_SLED_XRAY_ENTRY, EDC_SLED_XRAY_RETURN, EDC_SLED_XRAY_TAIL,
					   EDC_SLED_XRAY_ENTRY}; // the last: LOG_ARGS_ENTER
	const std::vector<XraySled> table = functions::table<XraySled>(image, "xray_instr_map");
	for (std::size_t i = 0; i < table.size(); ++i) {
		const std::uint64_t element_address = image.section("xray_instr_map")->address + i * sizeof(XraySled);
		if (table[i].version >= 2 && table[i].kind < std::size(kinds))
			sleds.push_back(
			    {element_address + static_cast<std::uint64_t>(table[i].address), kinds[table[i].kind]});
	}
}

void add_nops(const ElfImage &image, const char *section, std::uint16_t kind, std::vector<card::FunctionSled> &sleds)
{
	for (const std::uint64_t address : table<std::uint64_t>(image, section))
		sleds.push_back({address, kind});
}

// A static program cannot preload a library. A static PIE looks like a shared library without an interpreter.
bool can_be_preloaded(const ElfImage &image)
{
	if (image.section(".interp"))
		return true;
	const std::vector<Elf64_Dyn> dynamic = table<Elf64_Dyn>(image, ".dynamic");
	return !dynamic.empty() && std::ranges::none_of(dynamic, [](const Elf64_Dyn &entry) {
		return entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE);
	});
}

bool is_entry(const card::FunctionSled &sled)
{
	return sled.kind == EDC_SLED_XRAY_ENTRY || sled.kind == EDC_SLED_NOP_ENTRY;
}

// Offset of the exit instruction.
std::uint64_t exit_offset(const card::FunctionSled &sled)
{
	if (sled.kind == EDC_SLED_NOP_RETURN)
		return sled.offset + nop_bytes;
	return sled.kind == EDC_SLED_XRAY_TAIL ? sled.offset + xray_bytes : sled.offset;
}

std::uint64_t end_of(const card::FunctionSled &sled)
{
	const bool is_nop = sled.kind == EDC_SLED_NOP_ENTRY || sled.kind == EDC_SLED_NOP_RETURN;
	return sled.offset + (is_nop ? nop_bytes : xray_bytes);
}

unsigned first_instruction_bytes(const card::FunctionSled &sled)
{
	switch (sled.kind) {
	case EDC_SLED_XRAY_ENTRY:
	case EDC_SLED_XRAY_TAIL:
		return 2; // a jump over the rest
	case EDC_SLED_XRAY_RETURN:
		return 1;
	default:
		return nop_bytes;
	}
}

// Whether the sled may be overwritten: it is in the function, starts with a reached instruction, nothing else in it is
// reached, and the rest is padding. The library also compares its code (preload/patch.c).
bool can_be_overwritten(const card::FunctionSled &sled, const CodePart &part, const Exits &found)
{
	const std::uint64_t rest = sled.offset + first_instruction_bytes(sled), end = end_of(sled);
	if (!part.contains(end - 1) || !found.starts.contains(sled.offset))
		return false;
	for (std::uint64_t at = sled.offset + 1; at < end; ++at)
		if (found.starts.contains(at))
			return false;
	return is_padding(rest, std::span(part.bytes).subspan(rest - part.address, end - rest));
}

} // namespace

std::vector<card::FunctionSled> sleds_of(const ElfImage &image)
{
	std::vector<card::FunctionSled> sleds;
	if (!can_be_preloaded(image))
		return sleds;
	add_xray(image, sleds);
	add_nops(image, "__mcount_loc", EDC_SLED_NOP_ENTRY, sleds);
	add_nops(image, "__return_loc", EDC_SLED_NOP_RETURN, sleds);
	std::ranges::sort(sleds, {}, &card::FunctionSled::offset);
	return sleds;
}

std::vector<card::FunctionSled> sleds_of(const std::vector<card::FunctionSled> &all, const std::vector<CodePart> &parts,
					 const Exits &found)
{
	std::vector<card::FunctionSled> sleds;
	for (const CodePart &part : parts) {
		auto sled = std::ranges::lower_bound(all, part.address, {}, &card::FunctionSled::offset);
		for (; sled != all.end() && part.contains(sled->offset); ++sled) {
			if (!can_be_overwritten(*sled, part, found) ||
			    (!sleds.empty() && sled->offset < end_of(sleds.back()) &&
			     sled->offset >= sleds.back().offset))
				return {};
			sleds.push_back(*sled);
		}
	}
	const std::uint64_t start = parts.front().address;
	const auto entries = std::ranges::count_if(sleds, is_entry);
	const bool starts_with_entry =
	    entries == 1 && is_entry(sleds.front()) && sleds.front().offset - start <= endbr_bytes;
	const bool has_all_exits = std::ranges::all_of(found.exits, [&](const card::FunctionExit &exit) {
		return std::ranges::any_of(sleds, [&](const card::FunctionSled &sled) {
			return !is_entry(sled) && exit_offset(sled) == exit.offset;
		});
	});
	if (!starts_with_entry || !has_all_exits || sleds.size() != found.exits.size() + 1)
		sleds.clear();
	return sleds;
}

} // namespace monitor::functions
