// SPDX-License-Identifier: MIT
#include "function_table.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <tuple>
#include <utility>

#include <elf.h>

#include "base/function_starts.h"
#include "base/go_functions.h"
#include "base/load.h"
#include "base/scanner.h"

namespace monitor::symbols {
namespace {

constexpr std::size_t max_table_bytes = 512 << 20, max_text_bytes = 512 << 20, max_name = 4096,
		      max_all_names = 256 << 20;
constexpr std::uint64_t max_unsized = 1 << 20; // bytes assumed for a function of unknown size

bool is_function(const Elf64_Sym &symbol)
{
	const unsigned type = ELF64_ST_TYPE(symbol.st_info);
	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0;
}

// A symbol in code without a type, as in assembly.
bool is_label(const Elf64_Sym &symbol, const std::vector<ElfSection> &sections)
{
	if (ELF64_ST_TYPE(symbol.st_info) != STT_NOTYPE || symbol.st_shndx == SHN_UNDEF ||
	    symbol.st_shndx >= sections.size())
		return false;
	const ElfSection &section = sections[symbol.st_shndx];
	return section.flags & SHF_EXECINSTR && symbol.st_value - section.address < section.size;
}

std::uint64_t end_of(const Function &function)
{
	return function.address + function.size; // if this overflows, the range is empty
}

// A local label in assembly named after the function: "fill.loop".
bool is_local_label_of(std::string_view function, std::string_view name)
{
	return !function.empty() && name.size() > function.size() && name.starts_with(function) &&
	       name[function.size()] == '.';
}

} // namespace

std::vector<Function> functions_of(const ElfImage &image, bool &has_all)
{
	const ElfSection *symbols = image.section(".symtab");
	has_all = symbols && symbols->type == SHT_SYMTAB;
	if (!has_all)
		symbols = image.section(".dynsym");
	std::vector<Function> functions;
	if (!has_all) {
		for (const FunctionExtent &unnamed : function_extents(image))
			functions.push_back({unnamed.address, unnamed.size, ""});
		if (const auto go_functions = GoFunctions::of(image))
			for (const GoFunction &function : go_functions->all())
				functions.push_back({function.address, function.size, std::string(function.name)});
	}
	if (!symbols || symbols->link >= image.sections().size())
		return functions;
	const std::vector<std::byte> table = image.content(*symbols, max_table_bytes);
	const std::vector<std::byte> text = image.content(image.sections()[symbols->link], max_text_bytes);
	std::size_t name_bytes_left = max_all_names; // names may overlap in the file
	for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
		const auto symbol = load<Elf64_Sym>(table.data() + at);
		const bool has_no_type = is_label(symbol, image.sections());
		if (!(is_function(symbol) || has_no_type) || symbol.st_name >= text.size())
			continue;
		const char *name = reinterpret_cast<const char *>(text.data()) + symbol.st_name;
		const std::size_t size = ::strnlen(name, std::min(text.size() - symbol.st_name, max_name));
		if ((name_bytes_left -= std::min(name_bytes_left, size)) == 0)
			break;
		if (!has_no_type || (size > 0 && *name != '.' && *name != '$')) // the assembler's own labels
			functions.push_back({symbol.st_value, symbol.st_size, std::string(name, size), has_no_type});
	}
	return functions;
}

std::vector<Function> functions_in(std::span<const std::byte> file)
{
	const auto image = ElfImage::open(file);
	bool has_all;
	return image ? functions_of(*image, has_all) : std::vector<Function>();
}

std::vector<Function> functions_of_kernel(std::string_view text)
{
	std::vector<Function> functions;
	while (!text.empty()) {
		const std::string_view line = take_until(text, '\n');
		Function function;
		const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), function.address, 16);
		if (error != std::errc() || end == line.data() + line.size() || *end != ' ' || !function.address)
			continue;
		function.name.assign(end + 1, line.data() + line.size());
		functions.push_back(std::move(function));
	}
	return functions;
}

// Of several names for one address the first with a size, then the shortest: memcpy before __memcpy_avx_unaligned. Any
// name before none, a function before a label.
FunctionTable::FunctionTable(std::vector<Function> functions) : functions_(std::move(functions))
{
	std::ranges::sort(functions_, [](const Function &a, const Function &b) {
		const auto key = [](const Function &f) {
			return std::tuple(f.address, f.name.empty(), f.is_label, f.size == 0, f.name.size());
		};
		return key(a) != key(b) ? key(a) < key(b) : a.name < b.name;
	});
	const auto same = [](const Function &a, const Function &b) { return a.address == b.address; };
	functions_.erase(std::unique(functions_.begin(), functions_.end(), same), functions_.end());
	drop_local_labels();
	find_enclosing();
}

// Drops labels within a function.
void FunctionTable::drop_local_labels()
{
	std::uint64_t end = 0;
	std::size_t kept = 0;
	for (Function &function : functions_) {
		const std::string_view previous = kept ? functions_[kept - 1].name : std::string_view();
		if (function.is_label && (function.address < end || is_local_label_of(previous, function.name)))
			continue;
		end = std::max(end, end_of(function));
		if (&functions_[kept] != &function)
			functions_[kept] = std::move(function);
		++kept;
	}
	functions_.resize(kept);
}

void FunctionTable::find_enclosing()
{
	std::vector<std::uint32_t> open; // functions that may extend to here
	enclosing_.reserve(functions_.size());
	for (std::uint32_t i = 0; i < functions_.size(); ++i) {
		while (!open.empty() && end_of(functions_[open.back()]) <= functions_[i].address)
			open.pop_back();
		enclosing_.push_back(open.empty() ? none : open.back());
		if (functions_[i].size)
			open.push_back(i);
	}
}

const Function *FunctionTable::find(std::uint64_t address) const
{
	const auto after = std::ranges::upper_bound(functions_, address, {}, &Function::address);
	auto at = static_cast<std::uint32_t>(after - functions_.begin() - 1);
	if (after == functions_.begin())
		return nullptr;
	for (unsigned i = 0; i < max_enclosing && at != none; ++i, at = enclosing_[at]) {
		const Function &function = functions_[at];
		const std::uint64_t size = function.size ? function.size : max_unsized;
		if (address - function.address < size)
			return &function;
	}
	return nullptr;
}

} // namespace monitor::symbols
