// SPDX-License-Identifier: MIT
#include "file_search.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <sstream>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/debug_files.h"
#include "base/elf_image.h"
#include "exit_search.h"
#include "landing_pads.h"
#include "program_symbols.h"
#include "sled_search.h"

namespace monitor::functions {
namespace {

#ifdef __x86_64__ // recording/preload
constexpr bool knows_sleds = true;
#else
constexpr bool knows_sleds = false;
#endif
constexpr std::size_t max_name_bytes = 200; // readers accept 255; leaves room for what makes names unique

class FileSearch {
public:
	FileSearch(int fd, const Pattern &pattern, bool may_patch) : fd_(fd), image_(ElfImage::open(fd))
	{
		if (image_) {
			const std::optional<OpenedImage> separate = separate_symbols(pattern.real);
			symbols_ = functions_of(*image_, separate ? &*separate->image : nullptr, pattern.file);
			landing_pads_.emplace(*image_);
		}
		if (knows_sleds && image_ && may_patch && !is_privileged())
			sleds_ = sleds_of(*image_);
		for (const Symbol &symbol : symbols_)
			if (const std::size_t end = symbol.name.find(".cold"); end != std::string::npos)
				cold_.emplace(symbol.name.substr(0, end), &symbol);
	}

	// An answer line for each function whose name matches; if none, where debug files were sought.
	std::string answer(const std::string &glob) const
	{
		std::string text;
		std::unordered_set<std::uint64_t> answered; // addresses
		for (std::size_t i = 0; i < symbols_.size(); ++i) {
			const Symbol &symbol = symbols_[i];
			if (symbol.name.find(".cold") != std::string::npos || !matches(symbol, glob))
				continue;
			if (symbol.is_indirect)
				text += ifunc_lines(symbol, answered);
			else if (answered.insert(symbol.address).second)
				text += answer_line(symbol.pretty, symbol);
			while (i + 1 < symbols_.size() && symbols_[i + 1].address == symbol.address)
				++i;
		}
		return text.empty() ? sought_ : text;
	}

private:
	// The debug file of a stripped file, which has .symtab.
	std::optional<OpenedImage> separate_symbols(const std::string &path)
	{
		if (image_->section(".symtab"))
			return {};
		const Stripped stripped{path, image_->build_id(), link_in(*image_, ".gnu_debuglink")};
		const std::vector<std::string> paths = debug_file_paths(stripped, {"/usr/lib/debug"});
		for (const std::string &each : paths)
			if (auto opened = open_debug_file(each, stripped); opened && opened->image->section(".symtab"))
				return opened;
		if (!stripped.link.name.empty())
			for (const std::string &each : paths)
				sought_ += (sought_.empty() ? std::string(1, sought_mark) : ", ") + printable(each);
		return {};
	}

	// Set-user-ID programs and the like ignore LD_PRELOAD: ld.so(8), capabilities(7).
	bool is_privileged() const
	{
		struct stat status;
		return ::fstat(fd_, &status) < 0 || (status.st_mode & (S_ISUID | S_ISGID)) ||
		       ::fgetxattr(fd_, "security.capability", nullptr, 0) > 0;
	}

	std::uint64_t offset_of(std::uint64_t address) const
	{
		for (const ElfSegment &load : image_->loads())
			if (load.is_executable && address >= load.address && address - load.address < load.file_size)
				return address - load.address + load.offset;
		return 0;
	}

	bool add_part(const Symbol &symbol, std::vector<CodePart> &parts) const
	{
		const std::uint64_t offset = offset_of(symbol.address);
		if (offset == 0 || offset_of(symbol.address + symbol.size - 1) != offset + symbol.size - 1)
			return false;
		CodePart &part = parts.emplace_back();
		part.address = symbol.address;
		part.bytes.resize(symbol.size);
		return ::pread(fd_, part.bytes.data(), symbol.size, static_cast<off_t>(offset)) ==
		       static_cast<ssize_t>(symbol.size);
	}

	// Reads from sections that are mapped read-only.
	bool read_constants(std::uint64_t address, std::span<std::byte> into) const
	{
		for (const ElfSegment &load : image_->loads())
			if (!load.is_writable && address >= load.address && into.size() <= load.file_size &&
			    address - load.address <= load.file_size - into.size())
				return image_->read_at(address - load.address + load.offset, into);
		return false;
	}

	Exits exits_of(const Symbol &symbol, FunctionCode &code) const
	{
		Exits found;
		if (!add_part(symbol, code.parts)) {
			found.why_not = "its code is not in the file";
			return found;
		}
		for (auto [at, end] = cold_.equal_range(symbol.name); at != end; ++at)
			add_part(*at->second, code.parts);
		for (const CodePart &part : code.parts)
			if (!landing_pads_->add_to(code.landing_pads, part))
				found.why_not = not_followed;
		code.read = [this](std::uint64_t address, std::span<std::byte> into) {
			return read_constants(address, into);
		};
		return found.why_not.empty() ? find_exits(code) : found;
	}

	// An IFUNC's candidates are the function starts that its resolver refers to. All are recorded; only the chosen
	// one is called.
	std::string ifunc_lines(const Symbol &symbol, std::unordered_set<std::uint64_t> &answered) const
	{
		FunctionCode code;
		std::string text;
		bool is_known = false;
		for (const std::uint64_t address : exits_of(symbol, code).refers_to)
			if (const std::optional<Symbol> chosen = function_at(address)) {
				is_known = true;
				if (!answered.insert(address).second)
					continue;
				text += answer_line(fmt::format("{} ({})", symbol.pretty, chosen->pretty), *chosen);
				if (text.ends_with(fmt::format("{}\n", not_followed)))
					text.insert(text.size() - 1, ", and it may be chosen at run time");
			}
		if (!is_known)
			text = fmt::format("{}{}\tit is chosen at run time, and not known from what\n", refused_mark,
					   printable(symbol.pretty));
		return text;
	}

	std::optional<Symbol> function_at(std::uint64_t address) const
	{
		const auto symbol = std::ranges::lower_bound(symbols_, address, {}, &Symbol::address);
		if (symbol == symbols_.end() || symbol->address != address || symbol->is_indirect)
			return {};
		return *symbol;
	}

	static std::string printable(std::string name)
	{
		if (name.size() > max_name_bytes)
			name = name.substr(0, max_name_bytes) + "...";
		std::ranges::replace_if(
		    name,
		    [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\' || c == 0x7f; },
		    '?');
		return name;
	}

	std::string answer_line(const std::string &full_name, const Symbol &symbol) const
	{
		const std::string name = printable(full_name);
		FunctionCode code;
		const Exits found = exits_of(symbol, code);
		if (!found.why_not.empty())
			return fmt::format("{}{}\t{}\n", refused_mark, name, found.why_not);
		std::string text = fmt::format("{}\t{}\t", name, offset_of(found.entry));
		for (const card::FunctionExit &exit : found.exits)
			text += fmt::format("{}:{} ", offset_of(exit.offset), exit.condition);
		text += "\t";
		for (const card::FunctionSled &sled : sleds_of(sleds_, code.parts, found))
			text += fmt::format("{}:{} ", offset_of(sled.offset), sled.kind);
		return text + "\n";
	}

	int fd_;
	std::optional<ElfImage> image_;
	std::vector<Symbol> symbols_;
	std::string sought_; // where debug files were looked for, if none was found
	std::vector<card::FunctionSled> sleds_;
	std::optional<LandingPads> landing_pads_;
	std::unordered_multimap<std::string, const Symbol *>
	    cold_; // by the name of the function that they were split from
};

// "NUMBER:SMALL NUMBER:SMALL ..."
template <class Small, class T> bool parse_pairs(const std::string &text, std::vector<T> &pairs)
{
	std::istringstream parts(text);
	for (std::string part; parts >> part;) {
		char *end = nullptr;
		const std::uint64_t first = std::strtoull(part.c_str(), &end, 10);
		if (*end != ':')
			return false;
		const unsigned long second = std::strtoul(end + 1, &end, 10);
		if (*end || second > card::FunctionExit::max_condition)
			return false;
		pairs.push_back({first, static_cast<Small>(second)});
	}
	return true;
}

} // namespace

std::string search_file(int fd, const Pattern &pattern, bool may_patch)
{
	return FileSearch(fd, pattern, may_patch).answer(pattern.glob);
}

bool parse_answer(const std::string &line, FileAnswer &answer)
{
	card::Function &function = answer.function;
	std::istringstream parts(line);
	if (!std::getline(parts, function.name, '\t'))
		return false;
	if (function.name.starts_with(refused_mark)) {
		function.name.erase(0, 1);
		return static_cast<bool>(std::getline(parts, answer.why_not));
	}
	std::string entry, exits, sleds;
	if (!std::getline(parts, entry, '\t') || !std::getline(parts, exits, '\t'))
		return false;
	std::getline(parts, sleds);
	function.entry = std::strtoull(entry.c_str(), nullptr, 10);
	return parse_pairs<std::uint8_t>(exits, function.exits) && parse_pairs<std::uint16_t>(sleds, function.sleds);
}

} // namespace monitor::functions
