// SPDX-License-Identifier: MIT
#include "go_functions.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include <elf.h>

#include "eh_frame.h"
#include "load.h"

namespace monitor {
namespace {

constexpr std::uint64_t list_after_header = 16; // offset of the function list if the header does not say it
constexpr std::size_t max_go_name = 4096, max_other_bytes = 256 << 20;
constexpr unsigned flag_outermost = 1, flag_changes_stack = 2, flag_assembler = 4;

struct GoTable {
	std::vector<std::byte> bytes;
	std::uint64_t address = 0;
};

constexpr std::array go_sections = {".gopclntab", ".data.rel.ro.gopclntab"};

// Go before 1.17 has no function flags: these functions are known by name.
constexpr std::array<std::string_view, 3> outermost_names = {"runtime.goexit", "runtime.mstart", "runtime.rt0_go"};
constexpr std::array<std::string_view, 16> stack_changers = {
    "runtime.asmcgocall",         "runtime.callCgoMmap", "runtime.callCgoSigaction", "runtime.cgocallback",
    "runtime.cgocallback_gofunc", "runtime.gogo",        "runtime.jmpdefer",         "runtime.mcall",
    "runtime.morestack",          "runtime.nanotime",    "runtime.nanotime1",        "runtime.sigreturn",
    "runtime.systemstack",        "runtime.walltime",    "runtime.walltime1",        "time.now"};

} // namespace

// A version's table layout: where the header has the offsets of the table's parts (0: it has none), and the size of
// entries.
struct GoFunctions::Layout {
	std::uint32_t magic;
	std::uint64_t code_at; // base of addresses; 0: they are absolute
	std::uint64_t names_at, changes_at;
	std::uint64_t list_at;    // of entries; base of their records' offsets
	std::uint64_t code_bytes; // size of an address, in entries and at the start of records
	std::uint64_t flags_at;   // offset in a record; 0: none
};

const GoFunctions::Layout GoFunctions::layouts[] = {{0xfffffffb, 0, 0, 0, 0, 8, 0},       // 1.2
						    {0xfffffffa, 0, 24, 48, 56, 8, 41},   // 1.16
						    {0xfffffff0, 24, 32, 56, 64, 4, 37},  // 1.18
						    {0xfffffff1, 24, 32, 56, 64, 4, 41}}; // 1.20

const GoFunctions::Layout *GoFunctions::layout_of(std::span<const std::byte> table)
{
	constexpr std::array<std::uint8_t, 4> sizes = {0, 0, 1, 8}; // of an instruction and of a pointer
	if (table.size() < list_after_header ||
	    std::memcmp(table.data() + sizeof(Layout::magic), sizes.data(), sizes.size()) != 0)
		return nullptr;
	const auto found = std::ranges::find(layouts, load<std::uint32_t>(table.data()), &Layout::magic);
	return found == std::end(layouts) ? nullptr : found;
}

namespace {

// Some linkers (ld.lld) put the table into a section with other data.
template <class IsTable> std::optional<GoTable> go_table_of(const ElfImage &image, const IsTable &is_table)
{
	constexpr std::size_t alignment = 16;
	for (const char *name : go_sections)
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
			if (is_table(std::span<const std::byte>(bytes).subspan(at))) {
				bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
				return GoTable{std::move(bytes), section->address + at};
			}
	}
	return {};
}

// The first entry of a section that matches.
template <class T, class Matches>
std::optional<T> find_entry(const ElfImage &image, const char *name, const Matches &matches)
{
	const std::vector<std::byte> bytes = image.content(name, max_other_bytes);
	for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T))
		if (const T entry = load<T>(bytes.data() + at); matches(entry))
			return entry;
	return {};
}

// Applies relative relocations, as the loader does.
void relocate(const ElfImage &image, GoTable &table)
{
	find_entry<Elf64_Rela>(image, ".rela.dyn", [&](const Elf64_Rela &each) {
		const std::uint64_t at = each.r_offset - table.address;
		if (ELF64_R_TYPE(each.r_info) == R_X86_64_RELATIVE && at < table.bytes.size() &&
		    table.bytes.size() - at >= sizeof each.r_addend)
			std::memcpy(table.bytes.data() + at, &each.r_addend, sizeof each.r_addend);
		return false; // visit all
	});
}

// The base of addresses, which newer versions omit from the header.
std::uint64_t start_of_code(const ElfImage &image)
{
	if (const ElfSection *symbols = image.section(".symtab"); symbols && symbols->link < image.sections().size()) {
		constexpr std::string_view name("runtime.text\0", 13);
		const std::vector<std::byte> text = image.content(image.sections()[symbols->link], max_other_bytes);
		const auto symbol = find_entry<Elf64_Sym>(image, ".symtab", [&](const Elf64_Sym &each) {
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

std::uint64_t GoFunctions::read_address(std::uint64_t at) const
{
	return layout_->code_bytes == sizeof(std::uint32_t) ? number<std::uint32_t>(at) : number<std::uint64_t>(at);
}

std::optional<GoFunctions> GoFunctions::of(const ElfImage &image)
{
	GoFunctions found;
	std::optional<GoTable> table = go_table_of(image, layout_of);
	if (!table || !(found.layout_ = layout_of(table->bytes)))
		return {};
	relocate(image, *table);
	if (!found.parse_table(image, std::move(table->bytes)))
		return {};
	return found;
}

bool GoFunctions::is_unknown(const ElfImage &image)
{
	const bool has_table =
	    std::ranges::any_of(go_sections, [&](const char *name) { return image.section(name) != nullptr; });
	const std::optional<GoTable> table = has_table ? go_table_of(image, layout_of) : std::nullopt;
	return has_table && !(table && layout_of(table->bytes));
}

bool GoFunctions::parse_table(const ElfImage &image, std::vector<std::byte> bytes)
{
	bytes_ = std::move(bytes);
	const auto in_header = [&](std::uint64_t at) { return at ? number<std::uint64_t>(at) : 0; };
	names_ = in_header(layout_->names_at);
	changes_ = in_header(layout_->changes_at);
	const std::uint64_t records = in_header(layout_->list_at);
	const std::uint64_t list = layout_->list_at ? records : list_after_header;
	std::uint64_t code = in_header(layout_->code_at);
	if (layout_->code_at && code == 0)
		code = start_of_code(image);
	if (list > bytes_.size() || names_ > bytes_.size() || changes_ > bytes_.size())
		return false;
	const auto count = number<std::uint64_t>(8);
	const std::uint64_t entry_bytes = 2 * layout_->code_bytes;
	if (count > max_functions || count > (bytes_.size() - list) / entry_bytes)
		return false;
	for (std::uint64_t i = 0; i < count; ++i) {
		const std::uint64_t at = list + i * entry_bytes;
		const std::uint64_t first = read_address(at), end = read_address(at + entry_bytes);
		if (first < end)
			add_function(code + first, end - first, records + read_address(at + layout_->code_bytes));
	}
	set_flags_from_names();
	const auto is_later = [](const GoFunction &a, const GoFunction &b) { return a.address >= b.address; };
	return !functions_.empty() && std::ranges::adjacent_find(functions_, is_later) == functions_.end();
}

void GoFunctions::add_function(std::uint64_t address, std::uint64_t size, std::uint64_t at)
{
	const std::uint64_t numbers = at + layout_->code_bytes; // after its address
	const std::uint64_t name = names_ + number<std::uint32_t>(numbers);
	const auto flags = layout_->flags_at ? number<std::uint8_t>(at + layout_->flags_at) : std::uint8_t{0};
	if (name >= bytes_.size())
		return;
	GoFunction function{address, size, {}, false, false, false, number<std::uint32_t>(numbers + 12)};
	const char *text = reinterpret_cast<const char *>(bytes_.data()) + name;
	function.name = {text, ::strnlen(text, std::min<std::size_t>(bytes_.size() - name, max_go_name))};
	function.is_outermost = flags & flag_outermost;
	function.changes_stack = flags & flag_changes_stack;
	function.is_assembler = flags & flag_assembler;
	functions_.push_back(function);
}

// Before Go 1.17 there are no flags.
void GoFunctions::set_flags_from_names()
{
	const bool has_flags = layout_->code_at || std::ranges::any_of(functions_, [](const GoFunction &function) {
				       return function.is_outermost || function.changes_stack;
			       });
	if (has_flags)
		return;
	for (GoFunction &function : functions_) {
		function.is_outermost = std::ranges::find(outermost_names, function.name) != outermost_names.end();
		function.changes_stack = std::ranges::find(stack_changers, function.name) != stack_changers.end();
	}
}

// Pairs of differences: of the value (zigzag-encoded) and of the address.
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
		const std::uint64_t by = numbers.unsigned_leb();
		if (numbers.is_bad() || by == 0 || (change == 0 && !sizes.empty()))
			break;
		value += static_cast<std::int32_t>(change & 1 ? ~(change >> 1) : change >> 1);
		sizes.push_back({address, by < end - address ? address + by : end, value});
		address = sizes.back().end;
	}
	return sizes;
}

} // namespace monitor
