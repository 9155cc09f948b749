// SPDX-License-Identifier: MIT
#include "frame_pointers.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "row_list.h"

namespace monitor::stacks {
namespace {

constexpr unsigned push_size = 1, prologue_size = 4;
constexpr std::array prologues = {std::array<std::uint8_t, prologue_size>{0x55, 0x48, 0x89, 0xe5},
				  std::array<std::uint8_t, prologue_size>{0x55, 0x48, 0x8b, 0xec}};
// mov $15,%rax or mov $15,%eax; syscall
constexpr std::array<std::uint8_t, 9> sigreturn_rax = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
constexpr std::array<std::uint8_t, 7> sigreturn_eax = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
constexpr std::uint8_t pop = 0x5d, leave = 0xc9, ret = 0xc3; // pop %rbp or leave, then ret

std::uint8_t byte_at(std::span<const std::byte> code, std::size_t offset)
{
	return offset < code.size() ? std::to_integer<std::uint8_t>(code[offset]) : 0;
}

bool is_prologue(std::span<const std::byte> code, std::size_t offset)
{
	return std::ranges::any_of(prologues, [&](const auto &start) {
		for (std::size_t i = 0; i < start.size(); ++i)
			if (byte_at(code, offset + i) != start[i])
				return false;
		return true;
	});
}

bool is_epilogue(std::span<const std::byte> code, std::size_t offset)
{
	return (byte_at(code, offset) == pop || byte_at(code, offset) == leave) && byte_at(code, offset + 1) == ret;
}

} // namespace

std::span<std::byte> read_code(const ElfImage &image, std::uint64_t address, std::uint64_t size,
			       std::vector<std::byte> &into)
{
	into.clear();
	for (const ElfSegment &load : image.loads())
		if (load.is_executable && address >= load.address && address - load.address < load.file_size) {
			into.resize(std::min(size, load.file_size - (address - load.address)));
			if (!image.read_at(load.offset + (address - load.address), into))
				into.clear();
			break;
		}
	return into;
}

std::size_t signal_return_size(std::span<const std::byte> code, std::size_t offset)
{
	const auto size_of = [&](const auto &bytes) {
		const bool is_match = offset < code.size() && code.size() - offset >= bytes.size() &&
				      std::memcmp(code.data() + offset, bytes.data(), bytes.size()) == 0;
		return is_match ? bytes.size() : 0;
	};
	return std::max(size_of(sigreturn_rax), size_of(sigreturn_eax));
}

std::vector<edc_unwind_row> frame_pointer_rows(std::span<const std::byte> code, std::uint32_t address)
{
	RowList rows;
	bool has_prologue = false;
	const auto add = [&](std::size_t offset, std::uint8_t rule, std::int16_t cfa, std::int8_t fp) {
		if (offset < code.size())
			rows.add({address + static_cast<std::uint32_t>(offset), cfa, fp, rule});
	};
	for (std::size_t offset = 0; offset + 1 < code.size();) {
		if (is_prologue(code, offset)) {
			add(offset, EDC_UNWIND_SP, 1, 0);
			add(offset + push_size, EDC_UNWIND_SP, 2, -2);
			add(offset + prologue_size, EDC_UNWIND_FP, 2, -2);
			offset += prologue_size;
			has_prologue = true;
		} else if (has_prologue && is_epilogue(code, offset)) {
			add(offset + 1, EDC_UNWIND_SP, 1, 0);
			add(offset + 2, EDC_UNWIND_FP, 2, -2);
			offset += 2;
		} else if (const std::size_t size = signal_return_size(code, offset)) {
			// From one byte before (the handler's return address - 1) to after the system call.
			add(offset - (offset > 0), EDC_UNWIND_SIGNAL, 0, 0);
			offset += size + 1;
			if (has_prologue)
				add(offset, EDC_UNWIND_FP, 2, -2);
			else
				add(offset, EDC_UNWIND_NONE, 0, 0);
		} else {
			++offset;
		}
	}
	return rows.take();
}

std::vector<edc_unwind_row> with_frame_pointers(const std::vector<edc_unwind_row> &rows, const ElfImage &image,
						std::vector<CodeRange> &assumed)
{
	std::vector<edc_unwind_row> all;
	std::vector<std::byte> code;
	std::size_t left = max_gap_code;
	for (auto row = rows.begin(); row != rows.end(); ++row) {
		all.push_back(*row);
		if (row->rule != EDC_UNWIND_NONE)
			continue;
		const auto next = std::next(row);
		const std::uint64_t size =
		    next == rows.end() ? ~std::uint32_t{0} - row->address : next->address - row->address;
		if (size < min_gap)
			continue;
		const auto gap = read_code(image, row->address, std::min<std::uint64_t>(size, left), code);
		left -= gap.size();
		const std::vector<edc_unwind_row> found = frame_pointer_rows(gap, row->address);
		const auto first = std::ranges::find(found, EDC_UNWIND_FP, &edc_unwind_row::rule);
		if (first != found.end())
			assumed.push_back({first->address, row->address + static_cast<std::uint32_t>(gap.size())});
		std::ranges::copy(found, std::back_inserter(all));
	}
	return all;
}

} // namespace monitor::stacks
