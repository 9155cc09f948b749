// SPDX-License-Identifier: MIT
#include "image_rows.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <elf.h>
#ifdef MONITOR_HAS_ZLIB
#include <zlib.h>
#endif

#include "go_rows.h"
#include "row_list.h"
#include "unwind_table.h"

namespace monitor::stacks {
namespace {

constexpr std::size_t max_section = 64 << 20;
constexpr std::uint32_t start_bytes = 64; // of the code of a program's start

std::vector<std::byte> decompressed([[maybe_unused]] std::span<const std::byte> compressed)
{
	std::vector<std::byte> bytes;
#ifdef MONITOR_HAS_ZLIB
	Elf64_Chdr head;
	if (compressed.size() < sizeof head)
		return bytes;
	std::memcpy(&head, compressed.data(), sizeof head);
	if (head.ch_type != ELFCOMPRESS_ZLIB || head.ch_size > max_section)
		return bytes;
	compressed = compressed.subspan(sizeof head);
	bytes.resize(head.ch_size);
	uLongf size = bytes.size();
	if (::uncompress(reinterpret_cast<Bytef *>(bytes.data()), &size,
			 reinterpret_cast<const Bytef *>(compressed.data()), compressed.size()) != Z_OK)
		size = 0;
	bytes.resize(size);
#endif
	return bytes;
}

std::vector<edc_unwind_row> table_of(const ElfImage &image, const char *name, eh::SectionKind kind)
{
	const ElfSection *section = image.section(name);
	if (!section)
		return {};
	std::vector<std::byte> bytes = image.content(*section, max_section);
	if (section->flags & SHF_COMPRESSED)
		bytes = decompressed(bytes);
	return unwind_table(bytes, section->address, kind);
}

std::vector<edc_unwind_row> from_start_of_code(const ElfImage &image)
{
	for (const ElfSegment &load : image.loads())
		if (load.is_executable && load.address + load.size <= UINT32_MAX)
			return {without_rule(load.address)};
	return {};
}

// The rows that apply from `from` up to `to`.
void add_between(RowList &all, const std::vector<edc_unwind_row> &rows, std::uint32_t from, std::uint64_t to)
{
	auto row = std::ranges::upper_bound(rows, from, {}, &edc_unwind_row::address);
	if (row != rows.begin()) {
		edc_unwind_row first = *std::prev(row);
		first.address = from;
		all.add(first);
	}
	for (; row != rows.end() && row->address < to; ++row)
		all.add(*row);
}

} // namespace

std::vector<edc_unwind_row> fill_gaps(const std::vector<edc_unwind_row> &rows,
				      const std::vector<edc_unwind_row> &others)
{
	if (rows.empty() || others.empty())
		return rows.empty() ? others : rows;
	RowList all;
	add_between(all, others, 0, rows.front().address);
	for (auto row = rows.begin(); row != rows.end(); ++row) {
		all.add(*row);
		if (row->rule == EDC_UNWIND_NONE)
			add_between(all, others, row->address,
				    std::next(row) == rows.end() ? ~std::uint64_t{0} : std::next(row)->address);
	}
	return all.take();
}

void mark_entry(std::vector<edc_unwind_row> &rows, std::uint64_t entry)
{
	if (!entry || entry > UINT32_MAX - start_bytes)
		return;
	const auto first = static_cast<std::uint32_t>(entry), end = first + start_bytes;
	auto next = std::ranges::upper_bound(rows, first, {}, &edc_unwind_row::address);
	if (next != rows.begin() && std::prev(next)->rule != EDC_UNWIND_NONE)
		return;
	if (next == rows.end() || next->address > end)
		next = rows.insert(next, without_rule(end));
	rows.insert(next, {first, 0, 0, EDC_UNWIND_END});
}

std::vector<edc_unwind_row> image_rows(const ElfImage &image, std::vector<CodeRange> &assumed)
{
	std::vector<edc_unwind_row> rows =
	    fill_gaps(from_start_of_code(image), table_of(image, ".eh_frame", eh::SectionKind::eh_frame));
	rows = fill_gaps(rows, go_rows(image));
	rows = fill_gaps(rows, table_of(image, ".debug_frame", eh::SectionKind::debug_frame));
	rows = with_frame_pointers(rows, image, assumed);
	mark_entry(rows, image.entry());
	return rows;
}

} // namespace monitor::stacks
