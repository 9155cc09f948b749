// SPDX-License-Identifier: MIT
#include "function_table.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <tuple>

#include <elf.h>

#include "base/function_starts.h"

namespace monitor::symbols {
namespace {

constexpr std::size_t max_table_bytes = 512 << 20, max_text_bytes = 512 << 20, max_name = 4096,
		      max_all_names = 256 << 20;
constexpr std::uint64_t max_unsized = 1 << 20; // bytes of a function whose size is not known

bool is_function(const Elf64_Sym &symbol)
{
	const unsigned type = ELF64_ST_TYPE(symbol.st_info);
	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0;
}

} // namespace

std::vector<Function> functions_of(const ElfImage &image, bool &has_all)
{
	const ElfSection *symbols = image.section(".symtab");
	has_all = symbols && symbols->type == SHT_SYMTAB;
	if (!has_all)
		symbols = image.section(".dynsym");
	std::vector<Function> functions;
	if (!has_all)
		for (const FunctionExtent &unnamed : function_extents(image))
			functions.push_back({unnamed.address, unnamed.size, ""});
	if (!symbols || symbols->link >= image.sections().size())
		return functions;
	const std::vector<std::byte> table = image.content(*symbols, max_table_bytes);
	const std::vector<std::byte> text = image.content(image.sections()[symbols->link], max_text_bytes);
	std::size_t left_of_names = max_all_names; // which may overlap in the file
	for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		std::memcpy(&symbol, table.data() + at, sizeof symbol);
		if (!is_function(symbol) || symbol.st_name >= text.size())
			continue;
		const char *name = reinterpret_cast<const char *>(text.data()) + symbol.st_name;
		const std::size_t size = ::strnlen(name, std::min(text.size() - symbol.st_name, max_name));
		if ((left_of_names -= std::min(left_of_names, size)) == 0)
			break;
		functions.push_back({symbol.st_value, symbol.st_size, std::string(name, size)});
	}
	return functions;
}

std::vector<Function> functions_of_kernel(std::string_view text)
{
	std::vector<Function> functions;
	while (!text.empty()) {
		const std::string_view line = text.substr(0, text.find('\n'));
		text.remove_prefix(std::min(line.size() + 1, text.size()));
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
// before none.
FunctionTable::FunctionTable(std::vector<Function> functions) : functions_(std::move(functions))
{
	std::ranges::sort(functions_, [](const Function &a, const Function &b) {
		const auto key = [](const Function &f) {
			return std::tuple(f.address, f.name.empty(), f.size == 0, f.name.size());
		};
		return key(a) != key(b) ? key(a) < key(b) : a.name < b.name;
	});
	const auto same = [](const Function &a, const Function &b) { return a.address == b.address; };
	functions_.erase(std::unique(functions_.begin(), functions_.end(), same), functions_.end());
}

const Function *FunctionTable::find(std::uint64_t address) const
{
	const auto after = std::ranges::upper_bound(functions_, address, {}, &Function::address);
	if (after == functions_.begin())
		return nullptr;
	const Function &function = *std::prev(after);
	const std::uint64_t size = function.size ? function.size : max_unsized;
	return address - function.address < size ? &function : nullptr;
}

} // namespace monitor::symbols
