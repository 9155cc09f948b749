// SPDX-License-Identifier: MIT
#include "program_symbols.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <unordered_set>
#include <utility>

#include <elf.h>
#include <fnmatch.h>

#include "base/demangle.h"
#include "base/function_starts.h"

namespace monitor::functions {
namespace {

constexpr std::size_t max_table_bytes = 512 << 20;
constexpr std::uint64_t max_function_bytes = 4 << 20;

void add_table(const ElfImage &image, const ElfSection &table, std::vector<Symbol> &symbols)
{
	if (table.link >= image.sections().size())
		return;
	const std::vector<std::byte> bytes = image.content(table, max_table_bytes);
	const std::vector<std::byte> names = image.content(image.sections()[table.link], max_table_bytes);
	for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		std::memcpy(&symbol, bytes.data() + at, sizeof symbol);
		if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0 ||
		    symbol.st_size > max_function_bytes || symbol.st_name >= names.size())
			continue;
		const char *name = reinterpret_cast<const char *>(names.data()) + symbol.st_name;
		const std::string text(name, ::strnlen(name, names.size() - symbol.st_name));
		symbols.push_back({symbol.st_value, symbol.st_size, text, demangled(text)});
	}
}

void add_unnamed(const ElfImage &image, const std::string &file, std::vector<Symbol> &symbols)
{
	std::unordered_set<std::uint64_t> named;
	for (const Symbol &symbol : symbols)
		named.insert(symbol.address);
	for (const FunctionExtent &function : function_extents(image)) {
		if (named.contains(function.address) || function.size > max_function_bytes)
			continue;
		const std::string name = unnamed_function(file, function.address);
		symbols.push_back({function.address, function.size, name, name});
	}
}

// Only functions made from templates have one: "int twice<int>" is twice<int>. Also where its arguments begin, if they
// are the last part of it.
std::pair<std::string, std::size_t> without_return_type(const std::string &name)
{
	if (!name.ends_with('>') || name.find("operator") != std::string::npos)
		return {name, std::string::npos};
	std::size_t depth = 0, at = name.size(), arguments = std::string::npos;
	while (at-- > 0) {
		depth += name[at] == '>';
		depth -= depth > 0 && name[at] == '<';
		if (depth == 0 && name[at] == '<' && arguments == std::string::npos)
			arguments = at;
		if (depth == 0 && name[at] == ' ')
			break;
	}
	const std::size_t begin = at == std::string::npos ? 0 : at + 1;
	return {name.substr(begin), arguments == std::string::npos ? arguments : arguments - begin};
}

} // namespace

std::vector<Symbol> functions_of(const ElfImage &image, const std::string &file)
{
	std::vector<Symbol> symbols;
	for (const ElfSection &section : image.sections())
		if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM)
			add_table(image, section, symbols);
	if (!image.section(".symtab"))
		add_unnamed(image, file, symbols);
	std::ranges::stable_sort(symbols, {}, &Symbol::address);
	const auto is_same = [](const Symbol &a, const Symbol &b) { return a.address == b.address; };
	symbols.erase(std::unique(symbols.begin(), symbols.end(), is_same), symbols.end());
	return symbols;
}

bool matches(const Symbol &symbol, const std::string &glob)
{
	const std::string plain = symbol.pretty.substr(0, symbol.pretty.find('('));
	const auto [bare, arguments] = without_return_type(plain);
	const std::string untemplated = bare.substr(0, arguments);
	for (const std::string *name : {&symbol.name, &symbol.pretty, &plain, &bare, &untemplated})
		if (::fnmatch(glob.c_str(), name->c_str(), 0) == 0)
			return true;
	return false;
}

} // namespace monitor::functions
