// SPDX-License-Identifier: MIT
#include "go_functions.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include <elf.h>

#include "eh_frame.h"

namespace monitor {
namespace {

constexpr std::uint32_t magic_1_18 = 0xfffffff0, magic_1_20 = 0xfffffff1;
constexpr std::uint64_t go_head_bytes = 72, go_code_at = 24, go_entry_bytes = 8;
constexpr std::size_t max_go_name = 4096, max_other_bytes = 256 << 20;
constexpr unsigned flag_outermost = 1, flag_changes_stack = 2, flag_assembler = 4;

struct GoTable {
	std::vector<std::byte> bytes;
	std::uint64_t address = 0;
};

bool is_go_table(std::span<const std::byte> bytes)
{
	constexpr std::array<std::uint8_t, 4> sizes = {0, 0, 1, 8}; // of an instruction and of a pointer
	std::uint32_t magic;
	if (bytes.size() < go_head_bytes)
		return false;
	std::memcpy(&magic, bytes.data(), sizeof magic);
	return (magic == magic_1_18 || magic == magic_1_20) &&
	       std::memcmp(bytes.data() + sizeof magic, sizes.data(), sizes.size()) == 0;
}

// Some linkers put it among other data (ld.lld).
std::optional<GoTable> go_table_of(const ElfImage &image)
{
	constexpr std::size_t alignment = 16;
	for (const char *name : {".gopclntab", ".data.rel.ro.gopclntab"})
		if (const ElfSection *section = image.section(name))
			return GoTable{image.content(*section, GoFunctions::max_bytes), section->address};
	if (!image.section(".go.buildinfo"))
		return {};
	for (const char *name : {".data.rel.ro", ".rodata"}) {
		const ElfSection *section = image.section(name);
		if (!section)
			continue;
		std::vector<std::byte> bytes = image.content(*section, GoFunctions::max_bytes);
		for (std::size_t at = -section->address % alignment; at < bytes.size(); at += alignment)
			if (is_go_table(std::span(bytes).subspan(at))) {
				bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
				return GoTable{std::move(bytes), section->address + at};
			}
	}
	return {};
}

template <class T, class Matches>
std::optional<T> entry_of(const ElfImage &image, const char *name, const Matches &matches)
{
	const ElfSection *section = image.section(name);
	const std::vector<std::byte> bytes =
	    section ? image.content(*section, max_other_bytes) : std::vector<std::byte>();
	for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
		T entry;
		std::memcpy(&entry, bytes.data() + at, sizeof entry);
		if (matches(entry))
			return entry;
	}
	return {};
}

// Where the code begins that addresses are counted from, if the table does not say it: as what moves is filled in when
// the program is loaded, or because newer versions do not.
std::uint64_t start_of_code(const ElfImage &image, std::uint64_t table)
{
	const auto relocation = entry_of<Elf64_Rela>(
	    image, ".rela.dyn", [&](const Elf64_Rela &each) { return each.r_offset == table + go_code_at; });
	if (relocation)
		return static_cast<std::uint64_t>(relocation->r_addend);
	if (const ElfSection *symbols = image.section(".symtab"); symbols && symbols->link < image.sections().size()) {
		constexpr std::string_view name("runtime.text\0", 13);
		const std::vector<std::byte> text = image.content(image.sections()[symbols->link], max_other_bytes);
		const auto symbol = entry_of<Elf64_Sym>(image, ".symtab", [&](const Elf64_Sym &each) {
			return each.st_name < text.size() && text.size() - each.st_name >= name.size() &&
			       std::memcmp(text.data() + each.st_name, name.data(), name.size()) == 0;
		});
		if (symbol)
			return symbol->st_value;
	}
	const ElfSection *text = image.section(".text");
	return text ? text->address : 0;
}

} // namespace

template <class T> T GoFunctions::number(std::uint64_t at) const
{
	T value{};
	if (at <= bytes_.size() && bytes_.size() - at >= sizeof value)
		std::memcpy(&value, bytes_.data() + at, sizeof value);
	return value;
}

std::optional<GoFunctions> GoFunctions::of(const ElfImage &image)
{
	GoFunctions found;
	std::optional<GoTable> table = go_table_of(image);
	if (!table || !is_go_table(table->bytes) || !found.take(image, std::move(table->bytes), table->address))
		return {};
	return found;
}

bool GoFunctions::take(const ElfImage &image, std::vector<std::byte> bytes, std::uint64_t address)
{
	bytes_ = std::move(bytes);
	has_start_line_ = number<std::uint32_t>(0) == magic_1_20;
	names_ = number<std::uint64_t>(32);
	changes_ = number<std::uint64_t>(56);
	const auto list = number<std::uint64_t>(64);
	std::uint64_t code = number<std::uint64_t>(go_code_at);
	if (code == 0)
		code = start_of_code(image, address);
	if (list > bytes_.size() || names_ > bytes_.size() || changes_ > bytes_.size())
		return false;
	const auto count = number<std::uint64_t>(8);
	if (count > max_functions || count > (bytes_.size() - list) / go_entry_bytes)
		return false;
	for (std::uint64_t i = 0; i < count; ++i) {
		const std::uint64_t at = list + i * go_entry_bytes;
		const auto first = number<std::uint32_t>(at), end = number<std::uint32_t>(at + go_entry_bytes);
		if (first < end)
			take_function(code + first, end - first, list + number<std::uint32_t>(at + 4));
	}
	const auto is_later = [](const GoFunction &a, const GoFunction &b) { return a.address >= b.address; };
	return !functions_.empty() && std::ranges::adjacent_find(functions_, is_later) == functions_.end();
}

void GoFunctions::take_function(std::uint64_t address, std::uint64_t size, std::uint64_t at)
{
	const std::uint64_t name = names_ + number<std::uint32_t>(at + 4);
	const auto flags = number<std::uint8_t>(at + (has_start_line_ ? 41 : 37));
	if (name >= bytes_.size())
		return;
	GoFunction function{address, size, {}, false, false, false, number<std::uint32_t>(at + 16)};
	const char *text = reinterpret_cast<const char *>(bytes_.data()) + name;
	function.name = {text, ::strnlen(text, std::min<std::size_t>(bytes_.size() - name, max_go_name))};
	function.is_outermost = flags & flag_outermost;
	function.changes_stack = flags & flag_changes_stack;
	function.is_assembler = flags & flag_assembler;
	functions_.push_back(function);
}

// Pairs of differences: of the value, whose sign is its lowest bit, and of the address.
std::vector<GoFunctions::FrameSize> GoFunctions::frame_sizes(const GoFunction &function) const
{
	std::vector<FrameSize> sizes;
	const std::uint64_t at = changes_ + function.frame_sizes;
	if (function.frame_sizes == 0 || at >= bytes_.size())
		return sizes;
	eh::Numbers numbers(eh::Bytes(bytes_).subspan(at), 0);
	std::int64_t value = -1;
	std::uint64_t address = function.address;
	const std::uint64_t end = function.address + function.size;
	while (!numbers.at_end() && address < end && sizes.size() < max_changes) {
		const auto change = static_cast<std::uint32_t>(numbers.unsigned_leb());
		if (change == 0 && !sizes.empty())
			break;
		value += static_cast<std::int32_t>(change & 1 ? ~(change >> 1) : change >> 1);
		const std::uint64_t by = numbers.unsigned_leb();
		if (numbers.is_bad() || by == 0)
			break;
		sizes.push_back({address, by < end - address ? address + by : end, value});
		address = sizes.back().end;
	}
	return sizes;
}

} // namespace monitor
