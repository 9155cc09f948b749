// SPDX-License-Identifier: MIT
#include "program_symbols.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
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

std::string text_at(const std::vector<std::byte> &texts, std::size_t at)
{
	if (at >= texts.size())
		return "";
	const char *text = reinterpret_cast<const char *>(texts.data()) + at;
	return {text, ::strnlen(text, texts.size() - at)};
}

// Symbol versions of .dynsym (Linux Standard Base 5.0, 10.7): NAME@VERSION for non-default ones, kept for old programs.
class Versions {
public:
	explicit Versions(const ElfImage &image)
	{
		const ElfSection *symbol_versions = nullptr, *defined = nullptr;
		for (const ElfSection &section : image.sections()) {
			symbol_versions = section.type == SHT_GNU_versym ? &section : symbol_versions;
			defined = section.type == SHT_GNU_verdef ? &section : defined;
		}
		if (!symbol_versions || !defined || defined->link >= image.sections().size())
			return;
		symbol_versions_ = image.content(*symbol_versions, max_table_bytes);
		add_names(image.content(*defined, max_table_bytes),
			  image.content(image.sections()[defined->link], max_table_bytes));
	}

	std::string suffix_of(std::size_t symbol) const
	{
		constexpr std::uint16_t hidden = 0x8000;
		std::uint16_t version = 0;
		if ((symbol + 1) * sizeof version > symbol_versions_.size())
			return "";
		std::memcpy(&version, symbol_versions_.data() + symbol * sizeof version, sizeof version);
		const auto name = names_.find(version & ~hidden);
		return version & hidden && name != names_.end() ? "@" + name->second : "";
	}

private:
	void add_names(const std::vector<std::byte> &defined, const std::vector<std::byte> &texts)
	{
		Elf64_Verdef definition;
		for (std::size_t at = 0; at + sizeof definition <= defined.size(); at += definition.vd_next) {
			std::memcpy(&definition, defined.data() + at, sizeof definition);
			Elf64_Verdaux name;
			if (at + definition.vd_aux + sizeof name > defined.size())
				return;
			std::memcpy(&name, defined.data() + at + definition.vd_aux, sizeof name);
			names_.emplace(definition.vd_ndx, text_at(texts, name.vda_name));
			if (definition.vd_next == 0)
				return;
		}
	}

	std::vector<std::byte> symbol_versions_;
	std::unordered_map<unsigned, std::string> names_;
};

void add_table(const ElfImage &image, const ElfSection &table, std::vector<Symbol> &symbols)
{
	if (table.link >= image.sections().size())
		return;
	const std::vector<std::byte> bytes = image.content(table, max_table_bytes);
	const std::vector<std::byte> names = image.content(image.sections()[table.link], max_table_bytes);
	const std::optional<Versions> versions =
	    table.type == SHT_DYNSYM ? std::optional<Versions>(image) : std::nullopt;
	for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		std::memcpy(&symbol, bytes.data() + at, sizeof symbol);
		const bool is_indirect = ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC;
		if ((ELF64_ST_TYPE(symbol.st_info) != STT_FUNC && !is_indirect) || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_size == 0 || symbol.st_size > max_function_bytes || symbol.st_name >= names.size())
			continue;
		const std::string text = text_at(names, symbol.st_name);
		const std::string suffix = versions ? versions->suffix_of(at / sizeof symbol) : "";
		symbols.push_back({symbol.st_value, symbol.st_size, text, demangled(text) + suffix, is_indirect});
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
		symbols.push_back({function.address, function.size, name, name, false});
	}
}

// Demangled templates have a return type: "int twice<int>" becomes twice<int>. Also returns where trailing template
// arguments begin.
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

std::vector<Symbol> functions_of(const ElfImage &image, const ElfImage *separate, const std::string &file)
{
	std::vector<Symbol> symbols;
	const ElfSection *all = separate ? separate->section(".symtab") : nullptr;
	if (all)
		add_table(*separate, *all, symbols);
	for (const ElfSection &section : image.sections())
		if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM)
			add_table(image, section, symbols);
	if (!all && !image.section(".symtab"))
		add_unnamed(image, file, symbols);
	std::ranges::stable_sort(symbols, {}, &Symbol::address);
	const auto is_same = [](const Symbol &a, const Symbol &b) {
		return a.address == b.address && a.pretty == b.pretty;
	};
	symbols.erase(std::unique(symbols.begin(), symbols.end(), is_same), symbols.end());
	return symbols;
}

bool matches(const Symbol &symbol, const std::string &glob)
{
	const std::string plain = symbol.pretty.substr(0, symbol.pretty.find_first_of("(@"));
	const auto [bare, arguments] = without_return_type(plain);
	const std::string untemplated = bare.substr(0, arguments);
	for (const std::string *name : {&symbol.name, &symbol.pretty, &plain, &bare, &untemplated})
		if (::fnmatch(glob.c_str(), name->c_str(), 0) == 0)
			return true;
	return false;
}

} // namespace monitor::functions
