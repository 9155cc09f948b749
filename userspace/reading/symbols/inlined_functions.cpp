// SPDX-License-Identifier: MIT
#include "inlined_functions.h"

#ifdef MONITOR_HAS_LIBDW

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include "base/demangle.h"

namespace monitor::symbols {

// Addresses [low, high) of a unit, a function or a copy of an inlined one.
struct Range {
	std::uint64_t low, high;
	std::size_t of;
};

namespace {

constexpr int max_depth = 1000; // of entries in entries

// The addresses of an entry; false: it has none.
bool add_ranges(Dwarf_Die &entry, std::size_t of, std::vector<Range> &ranges)
{
	const std::size_t before = ranges.size();
	Dwarf_Addr base, low, high;
	for (std::ptrdiff_t next = 0; (next = dwarf_ranges(&entry, next, &base, &low, &high)) > 0;)
		if (low < high)
			ranges.push_back({low, high, of});
	return ranges.size() > before;
}

// Ranges of one list do not overlap; if those of a damaged file do, one of them is found.
const Range *range_at(const std::vector<Range> &sorted, std::uint64_t address)
{
	const auto after = std::ranges::upper_bound(sorted, address, {}, &Range::low);
	if (after == sorted.begin() || std::prev(after)->high <= address)
		return nullptr;
	return &*std::prev(after);
}

std::string name_of(Dwarf_Die &entry)
{
	for (const unsigned code : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
		Dwarf_Attribute attribute;
		if (const char *name = dwarf_formstring(dwarf_attr_integrate(&entry, code, &attribute)))
			return demangled(name);
	}
	return {};
}

std::string line_text(const char *path, std::uint64_t line)
{
	if (!path || !line)
		return {};
	const std::string text = path;
	return text.substr(text.rfind('/') + 1) + ":" + std::to_string(line);
}

std::optional<std::uint64_t> number_of(Dwarf_Die &entry, unsigned code)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	if (dwarf_formudata(dwarf_attr(&entry, code, &attribute), &value) != 0)
		return {};
	return value;
}

// Every function in an entry: in name spaces, classes and such, too.
void list_functions(Dwarf_Die &in, std::vector<Dwarf_Die> &functions, std::vector<Range> &ranges, int depth)
{
	Dwarf_Die entry;
	if (depth > max_depth || dwarf_child(&in, &entry) != 0)
		return;
	do {
		switch (dwarf_tag(&entry)) {
		case DW_TAG_subprogram:
			if (add_ranges(entry, functions.size(), ranges))
				functions.push_back(entry);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
			list_functions(entry, functions, ranges, depth + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&entry, &entry) == 0);
}

// libdw passes over a section that it had no memory to expand, and would answer as if there were no names.
bool is_still_compressed(Elf &elf)
{
	std::size_t names;
	if (elf_getshdrstrndx(&elf, &names) != 0)
		return false;
	for (Elf_Scn *section = nullptr; (section = elf_nextscn(&elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_COMPRESSED))
			continue;
		const char *name = elf_strptr(&elf, names, header.sh_name);
		if (name && std::string_view(name).starts_with(".debug_"))
			return true;
	}
	return false;
}

} // namespace

struct InlinedFunctions::Tables {
	// What is inlined into a function, or into such a copy: `inside` of each.
	struct Function {
		Dwarf_Die entry;
		bool is_listed = false;
		std::vector<Range> ranges;
		std::vector<Function> inside;
	};
	struct Unit {
		Dwarf_Die entry;
		bool is_listed = false;
		std::vector<Range> ranges;
		std::vector<Function> functions;
	};

	Dwarf *dwarf = nullptr;
	std::vector<Unit> units;
	std::vector<Range> ranges;

	~Tables() { dwarf_end(dwarf); }
	void list_units();
	void list(Unit &unit);
	void list(Function &function);
	void list_inside(Dwarf_Die &in, Function &function, int depth);
	static std::string line_at(Unit &unit, std::uint64_t address);
	static std::string line_of_call(Unit &unit, Function &inlined);
};

void InlinedFunctions::Tables::list_units()
{
	Dwarf_CU *unit = nullptr;
	std::uint8_t type;
	Dwarf_Die entry;
	while (dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &entry, nullptr) == 0)
		if (type == DW_UT_compile && add_ranges(entry, units.size(), ranges))
			units.push_back({entry, false, {}, {}});
	std::ranges::sort(ranges, {}, &Range::low);
}

void InlinedFunctions::Tables::list(Unit &unit)
{
	if (std::exchange(unit.is_listed, true))
		return;
	std::vector<Dwarf_Die> entries;
	list_functions(unit.entry, entries, unit.ranges, 0);
	std::ranges::sort(unit.ranges, {}, &Range::low);
	for (const Dwarf_Die &entry : entries)
		unit.functions.push_back({entry, false, {}, {}});
}

void InlinedFunctions::Tables::list_inside(Dwarf_Die &in, Function &function, int depth)
{
	Dwarf_Die entry;
	if (depth > max_depth || dwarf_child(&in, &entry) != 0)
		return;
	do {
		const int tag = dwarf_tag(&entry);
		if (tag == DW_TAG_inlined_subroutine) {
			if (add_ranges(entry, function.inside.size(), function.ranges))
				function.inside.push_back({entry, false, {}, {}});
		} else if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
			list_inside(entry, function, depth + 1);
		}
	} while (dwarf_siblingof(&entry, &entry) == 0);
}

void InlinedFunctions::Tables::list(Function &function)
{
	if (std::exchange(function.is_listed, true))
		return;
	list_inside(function.entry, function, 0);
	std::ranges::sort(function.ranges, {}, &Range::low);
}

std::string InlinedFunctions::Tables::line_at(Unit &unit, std::uint64_t address)
{
	int line = 0;
	Dwarf_Line *found = dwarf_getsrc_die(&unit.entry, address);
	if (!found || dwarf_lineno(found, &line) != 0 || line < 0)
		return {};
	return line_text(dwarf_linesrc(found, nullptr, nullptr), static_cast<std::uint64_t>(line));
}

std::string InlinedFunctions::Tables::line_of_call(Unit &unit, Function &inlined)
{
	Dwarf_Files *files;
	std::size_t count;
	const auto file = number_of(inlined.entry, DW_AT_call_file), line = number_of(inlined.entry, DW_AT_call_line);
	if (!file || !line || dwarf_getsrcfiles(&unit.entry, &files, &count) != 0 || *file >= count)
		return {};
	return line_text(dwarf_filesrc(files, *file, nullptr, nullptr), *line);
}

const bool InlinedFunctions::is_available = true;

InlinedFunctions::InlinedFunctions(int fd)
{
	auto tables = std::make_unique<Tables>();
	tables->dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (!tables->dwarf)
		return;
	if (is_still_compressed(*dwarf_getelf(tables->dwarf)))
		return;
	tables->list_units();
	tables_ = std::move(tables);
}

InlinedFunctions::~InlinedFunctions() = default;

std::vector<SourceFrame> InlinedFunctions::find(std::uint64_t address)
{
	const Range *in_unit = tables_ ? range_at(tables_->ranges, address) : nullptr;
	if (!in_unit)
		return {};
	Tables::Unit &unit = tables_->units[in_unit->of];
	tables_->list(unit);
	const Range *range = range_at(unit.ranges, address);
	std::vector<SourceFrame> frames;
	std::vector<Tables::Function> *functions = &unit.functions;
	while (range && frames.size() < max_depth) {
		Tables::Function &function = (*functions)[range->of];
		if (!frames.empty())
			frames.back().line = Tables::line_of_call(unit, function);
		frames.push_back({name_of(function.entry), ""});
		tables_->list(function);
		functions = &function.inside;
		range = range_at(function.ranges, address);
	}
	if (frames.empty())
		frames.emplace_back();
	frames.back().line = Tables::line_at(unit, address);
	return frames;
}

} // namespace monitor::symbols

#else

namespace monitor::symbols {

struct InlinedFunctions::Tables {};
const bool InlinedFunctions::is_available = false;
InlinedFunctions::InlinedFunctions(int) {}
InlinedFunctions::~InlinedFunctions() = default;

std::vector<SourceFrame> InlinedFunctions::find(std::uint64_t)
{
	return {};
}

} // namespace monitor::symbols

#endif
