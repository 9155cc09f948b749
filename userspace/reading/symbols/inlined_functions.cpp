// SPDX-License-Identifier: MIT
#include "inlined_functions.h"

#ifdef MONITOR_HAS_LIBDW

#include <algorithm>
#include <climits>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <elfutils/version.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>

#include "base/demangle.h"

namespace fs = std::filesystem;

namespace monitor::symbols {

// Addresses [low, high) of a unit, a function or an inlined instance: the one with this index.
struct Range {
	std::uint64_t low, high;
	std::size_t index;
};

namespace {

constexpr int max_depth = 1000; // of nested entries

// The addresses of an entry; false: it has none.
bool add_ranges(Dwarf_Die &entry, std::size_t index, std::vector<Range> &ranges)
{
	const std::size_t before = ranges.size();
	Dwarf_Addr base, low, high;
	for (std::ptrdiff_t next = 0; (next = dwarf_ranges(&entry, next, &base, &low, &high)) > 0;)
		if (low < high)
			ranges.push_back({low, high, index});
	return ranges.size() > before;
}

// Ranges of one list do not overlap; if a damaged file's do, one of them is found.
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

// Entries that may contain functions: nested functions, and methods of classes within a function.
bool may_have_functions(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

// Every function in an entry, however deep.
void list_functions(Dwarf_Die &in, std::vector<Dwarf_Die> &functions, std::vector<Range> &ranges, int depth)
{
	Dwarf_Die entry;
	if (depth > max_depth || dwarf_child(&in, &entry) != 0)
		return;
	do {
		const int tag = dwarf_tag(&entry);
		if (tag == DW_TAG_subprogram && add_ranges(entry, functions.size(), ranges))
			functions.push_back(entry);
		if (may_have_functions(tag))
			list_functions(entry, functions, ranges, depth + 1);
	} while (dwarf_siblingof(&entry, &entry) == 0);
}

// libdw skips a section that it has no memory to decompress, and then answers as if there were no names.
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

std::optional<fs::path> path_in(Dwarf_Die &entry, std::initializer_list<unsigned> codes)
{
	for (const unsigned code : codes) {
		Dwarf_Attribute attribute;
		const char *path = dwarf_formstring(dwarf_attr(&entry, code, &attribute));
		if (path && ::strnlen(path, PATH_MAX) < PATH_MAX)
			return path;
	}
	return {};
}

// Where libdw looks for the split unit that a skeleton refers to.
std::vector<fs::path> split_unit_paths(const fs::path &file, Dwarf_Die &skeleton)
{
	std::vector<fs::path> paths;
	if (const auto name = path_in(skeleton, {DW_AT_dwo_name, DW_AT_GNU_dwo_name})) {
		const fs::path directory = file.parent_path();
		paths.push_back(directory / *name);
		const auto compiled_in = path_in(skeleton, {DW_AT_comp_dir});
		if (compiled_in && directory / *compiled_in / *name != paths.back())
			paths.push_back(directory / *compiled_in / *name);
	}
	paths.push_back(file.string() + ".dwp");
	return paths;
}

// A named pipe would block libdw until its other end is opened.
bool are_readable(const std::vector<fs::path> &paths)
{
	bool any_exists = false;
	for (const fs::path &path : paths) {
		struct stat status {};
		if (::stat(path.c_str(), &status) < 0)
			continue;
		if (!S_ISREG(status.st_mode))
			return false;
		any_exists = true;
	}
	return any_exists;
}

std::vector<std::string> texts_of(const std::vector<fs::path> &paths)
{
	std::vector<std::string> texts(paths.begin(), paths.end());
	std::error_code error;
	if (!_ELFUTILS_PREREQ(0, 191) && fs::exists(paths.back(), error))
		texts.back() += fmt::format(" (not read by libdw {})", dwfl_version(nullptr));
	return texts;
}

} // namespace

struct InlinedFunctions::Tables {
	// A function, or an instance of an inlined one, and the instances `inlined` into it.
	struct Function {
		Dwarf_Die entry;
		bool is_listed = false;
		std::vector<Range> ranges;
		std::vector<Function> inlined;
	};
	struct Unit {
		Dwarf_Die entry;
		bool is_skeleton = false, is_listed = false;
		std::vector<Range> ranges;
		std::vector<Function> functions;
	};

	Dwarf *dwarf = nullptr, *common = nullptr;
	fs::path path;
	std::vector<Unit> units;
	std::vector<Range> ranges;
	bool is_incomplete = false;

	~Tables()
	{
		dwarf_end(dwarf);
		dwarf_end(common);
	}
	bool open(int file, int common_file);
	void list_units();
	void list(Unit &unit, std::vector<std::string> &tried_paths);
	Dwarf_Die split_unit(Unit &unit, std::vector<std::string> &tried_paths);
	void list(Function &function);
	void list_inlined(Dwarf_Die &in, Function &function, int depth);
	static std::string line_at(Unit &unit, std::uint64_t address);
	static std::string line_of_call(Function &inlined);
};

bool InlinedFunctions::Tables::open(int file, int common_file)
{
	dwarf = dwarf_begin(file, DWARF_C_READ);
	if (!dwarf || is_still_compressed(*dwarf_getelf(dwarf)))
		return false;
	if (common_file < 0)
		return true;
	common = dwarf_begin(common_file, DWARF_C_READ);
	if (!common || is_still_compressed(*dwarf_getelf(common)))
		return false;
	dwarf_setalt(dwarf, common);
	return true;
}

void InlinedFunctions::Tables::list_units()
{
	Dwarf_CU *unit = nullptr;
	std::uint8_t type;
	Dwarf_Die entry;
	while (dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &entry, nullptr) == 0)
		if ((type == DW_UT_compile || type == DW_UT_skeleton) && add_ranges(entry, units.size(), ranges))
			units.push_back({entry, type == DW_UT_skeleton, false, {}, {}});
	std::ranges::sort(ranges, {}, &Range::low);
}

// The split unit of a skeleton; if it is not found the skeleton itself, which may have inlined functions, too.
Dwarf_Die InlinedFunctions::Tables::split_unit(Unit &unit, std::vector<std::string> &tried_paths)
{
	const std::vector<fs::path> paths = split_unit_paths(path, unit.entry);
	Dwarf_Die split{};
	if (are_readable(paths))
		dwarf_cu_info(unit.entry.cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr);
	if (!split.cu) {
		tried_paths = texts_of(paths);
		return unit.entry;
	}
	is_incomplete |= is_still_compressed(*dwarf_getelf(dwarf_cu_getdwarf(split.cu)));
	return split;
}

void InlinedFunctions::Tables::list(Unit &unit, std::vector<std::string> &tried_paths)
{
	if (std::exchange(unit.is_listed, true))
		return;
	Dwarf_Die entry = unit.is_skeleton ? split_unit(unit, tried_paths) : unit.entry;
	std::vector<Dwarf_Die> entries;
	list_functions(entry, entries, unit.ranges, 0);
	std::ranges::sort(unit.ranges, {}, &Range::low);
	for (const Dwarf_Die &function : entries)
		unit.functions.push_back({function, false, {}, {}});
}

void InlinedFunctions::Tables::list_inlined(Dwarf_Die &in, Function &function, int depth)
{
	Dwarf_Die entry;
	if (depth > max_depth || dwarf_child(&in, &entry) != 0)
		return;
	do {
		const int tag = dwarf_tag(&entry);
		if (tag == DW_TAG_inlined_subroutine) {
			if (add_ranges(entry, function.inlined.size(), function.ranges))
				function.inlined.push_back({entry, false, {}, {}});
		} else if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
			list_inlined(entry, function, depth + 1);
		}
	} while (dwarf_siblingof(&entry, &entry) == 0);
}

void InlinedFunctions::Tables::list(Function &function)
{
	if (std::exchange(function.is_listed, true))
		return;
	list_inlined(function.entry, function, 0);
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

std::string InlinedFunctions::Tables::line_of_call(Function &inlined)
{
	Dwarf_Die unit;
	Dwarf_Files *files;
	std::size_t count;
	const auto file = number_of(inlined.entry, DW_AT_call_file), line = number_of(inlined.entry, DW_AT_call_line);
	if (!file || !line || !dwarf_diecu(&inlined.entry, &unit, nullptr, nullptr) ||
	    dwarf_getsrcfiles(&unit, &files, &count) != 0 || *file >= count)
		return {};
	return line_text(dwarf_filesrc(files, *file, nullptr, nullptr), *line);
}

const bool InlinedFunctions::is_available = true;

InlinedFunctions::InlinedFunctions(int file, int common)
{
	auto tables = std::make_unique<Tables>();
	if (!tables->open(file, common))
		return;
	std::error_code error; // without a path, a skeleton's unit is looked for in the compilation directory
	tables->path = fs::read_symlink("/proc/self/fd/" + std::to_string(file), error);
	tables->list_units();
	tables_ = std::move(tables);
}

InlinedFunctions::~InlinedFunctions() = default;

bool InlinedFunctions::is_readable() const
{
	return tables_ && !tables_->is_incomplete;
}

std::vector<SourceFrame> InlinedFunctions::find(std::uint64_t address, std::vector<std::string> &tried_paths)
{
	const Range *in_unit = tables_ ? range_at(tables_->ranges, address) : nullptr;
	if (!in_unit)
		return {};
	Tables::Unit &unit = tables_->units[in_unit->index];
	tables_->list(unit, tried_paths);
	const Range *range = range_at(unit.ranges, address);
	std::vector<SourceFrame> frames;
	std::vector<Tables::Function> *functions = &unit.functions;
	while (range && frames.size() < max_depth) {
		Tables::Function &function = (*functions)[range->index];
		if (!frames.empty())
			frames.back().line = Tables::line_of_call(function);
		frames.push_back({name_of(function.entry), ""});
		tables_->list(function);
		functions = &function.inlined;
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
InlinedFunctions::InlinedFunctions(int, int) {}
InlinedFunctions::~InlinedFunctions() = default;

bool InlinedFunctions::is_readable() const
{
	return false;
}

std::vector<SourceFrame> InlinedFunctions::find(std::uint64_t, std::vector<std::string> &)
{
	return {};
}

} // namespace monitor::symbols

#endif
