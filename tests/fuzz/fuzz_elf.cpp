// SPDX-License-Identifier: MIT
// Any bytes as a file that a process runs: as an ELF file, whose symbols and unwind table are taken, and as an
// .eh_frame section by themselves; and as the lists beside a trace. Tables are sorted, and nothing grows without bound.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/elf_image.h"
#include "reading/symbols/code_map.h"
#include "reading/symbols/function_table.h"
#include "reading/symbols/jit_functions.h"
#include "reading/symbols/packed_frames.h"
#include "reading/symbols/symbol_files.h"
#include "recording/functions/exit_search.h"
#include "recording/functions/landing_pads.h"
#include "recording/functions/program_symbols.h"
#include "recording/functions/sled_search.h"
#include "recording/stacks/image_rows.h"
#include "recording/stacks/unwind_table.h"

using namespace monitor;

namespace {

void check_rows(const std::vector<edc_unwind_row> &rows, std::size_t max_rows)
{
	if (!std::ranges::is_sorted(rows, {}, &edc_unwind_row::address) || rows.size() > max_rows)
		std::abort();
}

void check_table(std::span<const std::byte> bytes, std::uint64_t address)
{
	for (const eh::SectionKind kind : {eh::SectionKind::eh_frame, eh::SectionKind::debug_frame})
		check_rows(stacks::unwind_table(bytes, address, kind), stacks::max_rows);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const std::span bytes(reinterpret_cast<const std::byte *>(data), size);
	const std::string_view text(reinterpret_cast<const char *>(data), size);
	if (const auto image = ElfImage::open(bytes)) {
		bool has_all = false;
		const symbols::FunctionTable functions(symbols::functions_of(*image, has_all));
		for (const ElfSection &section : image->sections()) {
			functions.find(section.address);
			check_table(image->content(section, 1 << 20), section.address);
		}
		std::vector<stacks::CodeRange> assumed;
		check_rows(stacks::image_rows(*image, assumed), 2 * stacks::max_rows);
		image->notes();
		const functions::LandingPads landing_pads(*image);
		std::vector<std::uint64_t> pads;
		landing_pads.add_to(pads, {0, std::vector<std::byte>(bytes.begin(), bytes.end())});
		const auto named = functions::functions_of(*image, &*image, "file");
		if (!std::ranges::is_sorted(named, {}, &functions::Symbol::address))
			std::abort();
		const auto sleds = functions::sleds_of(*image);
		if (!std::ranges::is_sorted(sleds, {}, &card::FunctionSled::offset))
			std::abort();
		for (const functions::Symbol &symbol : named)
			functions::matches(symbol, "a*");
		symbols::functions_of_debugdata(*image);
		image->build_id();
		image->address_of(size);
	}
	check_table(bytes, 0x1000);
	functions::FunctionCode code{{{0x1000, {bytes.begin(), bytes.end()}}}, {}, {}};
	code.read = [&](std::uint64_t address, std::span<std::byte> into) { // tables are in it, too
		const std::uint64_t at = address - 0x1000;
		if (at >= size || into.size() > size - at)
			return false;
		std::ranges::copy(bytes.subspan(at, into.size()), into.begin());
		return true;
	};
	const functions::Exits found = functions::find_exits(code);
	for (const functions::Exits &exits : {found, functions::find_exits_arm64(code)})
		for (const card::FunctionExit &exit : exits.exits)
			if (exit.offset - 0x1000 >= size || exit.condition > 16)
				std::abort();
	std::vector<card::FunctionSled> sleds; // as a hostile file may place them
	for (std::size_t i = 0; i < std::min<std::size_t>(size, 64); ++i)
		sleds.push_back({0x1000 + i, static_cast<std::uint16_t>(data[i] % 5)});
	for (const card::FunctionSled &sled : functions::sleds_of(sleds, code.parts, found))
		if (!found.starts.contains(sled.offset))
			std::abort();
	symbols::FunctionTable(symbols::functions_of_kernel(text)).find(size);
	symbols::parse_code_list(std::string(text));
	const symbols::PackedFrames packed = symbols::parse_packed_frames(std::string(text));
	if (symbols::packed_frames_text(symbols::parse_packed_frames(symbols::packed_frames_text(packed))) !=
	    symbols::packed_frames_text(packed))
		std::abort();
	symbols::JitFunctions made;
	made.add_map(text);
	made.add_dump(bytes, [](std::uint64_t ns) { return ns; });
	made.find(size, size);
	return 0;
}
