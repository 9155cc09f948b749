// SPDX-License-Identifier: MIT
#include "jit_functions.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/scanner.h"

namespace monitor::symbols {
namespace {

constexpr unsigned page_shift = 12;
constexpr std::size_t max_name_bytes = 4096;
constexpr std::size_t page_bytes = 100; // of memory, for an entry in by_page_

constexpr std::uint32_t dump_magic = 0x4A695444;
constexpr std::uint32_t record_load = 0, record_move = 1;
constexpr std::uint64_t flag_arch_timestamp = 1;

struct DumpHeader {
	std::uint32_t magic, version, total_size, elf_mach, pad, pid;
	std::uint64_t timestamp, flags;
};
struct RecordHeader {
	std::uint32_t id, total_size;
	std::uint64_t timestamp;
};
struct Load { // followed by the name and the code
	std::uint32_t pid, tid;
	std::uint64_t vma, code_addr, code_size, code_index;
};
struct Move {
	std::uint32_t pid, tid;
	std::uint64_t vma, old_code_addr, new_code_addr, code_size, code_index;
};

template <class T> bool read_struct(std::span<const std::byte> bytes, T &value)
{
	if (bytes.size() < sizeof value)
		return false;
	std::memcpy(&value, bytes.data(), sizeof value);
	return true;
}

// A hexadecimal number and the space after it.
bool take_number(std::string_view &line, std::uint64_t &value)
{
	if (line.starts_with("0x"))
		line.remove_prefix(2);
	const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
	if (error != std::errc() || end == line.data() + line.size() || *end != ' ')
		return false;
	line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
	return true;
}

} // namespace

void JitFunctions::add(JitFunction function)
{
	if (function.size == 0 || function.size > max_size || functions_.size() >= max_functions ||
	    function.address + function.size < function.address)
		return;
	function.name.resize(std::min(function.name.size(), max_name_bytes));
	const std::uint64_t last = (function.address + function.size - 1) >> page_shift,
			    pages = last - (function.address >> page_shift) + 1;
	if (!share_.take(sizeof function + function.name.size() + pages * page_bytes)) {
		is_cut_ = true;
		return;
	}
	for (std::uint64_t page = function.address >> page_shift; page <= last; ++page)
		by_page_[page].push_back(static_cast<std::uint32_t>(functions_.size()));
	functions_.push_back(std::move(function));
}

void JitFunctions::add_map(std::string_view text)
{
	while (!text.empty()) {
		std::string_view line = take_until(text, '\n');
		if (line.ends_with('\r')) // some programs write CR LF
			line.remove_suffix(1);
		JitFunction function;
		if (!take_number(line, function.address) || !take_number(line, function.size) || line.empty())
			continue;
		function.name = line;
		add(std::move(function));
	}
}

void JitFunctions::add_dump(std::span<const std::byte> bytes,
			    const std::function<std::uint64_t(std::uint64_t)> &ticks_of)
{
	DumpHeader header;
	if (!read_struct(bytes, header) || header.magic != dump_magic || header.total_size < sizeof header ||
	    header.total_size > bytes.size())
		return;
	bytes = bytes.subspan(header.total_size);
	const auto time_of = [&](const RecordHeader &record) -> std::uint64_t {
		if (header.flags & flag_arch_timestamp)
			return record.timestamp;
		return ticks_of ? ticks_of(record.timestamp) : 0;
	};
	std::unordered_map<std::uint64_t, std::string> names; // by code_index
	std::vector<JitFunction> found;
	MemoryShare share; // of found functions, until they are added
	RecordHeader record;
	while (read_struct(bytes, record) && record.total_size >= sizeof record && record.total_size <= bytes.size()) {
		const std::span<const std::byte> content =
		    bytes.subspan(sizeof record, record.total_size - sizeof record);
		bytes = bytes.subspan(record.total_size);
		Load load;
		Move move;
		if (record.id == record_load && read_struct(content, load)) {
			const auto *name = reinterpret_cast<const char *>(content.data() + sizeof load);
			std::string text(name, ::strnlen(name, std::min(content.size() - sizeof load, max_name_bytes)));
			names[load.code_index] = text;
			found.push_back({load.code_addr, load.code_size, time_of(record), std::move(text)});
		} else if (record.id == record_move && read_struct(content, move) && names.contains(move.code_index)) {
			found.push_back({move.new_code_addr, move.code_size, time_of(record), names[move.code_index]});
		}
		const std::size_t name_bytes = found.empty() ? 0 : found.back().name.size();
		is_cut_ = is_cut_ || found.size() >= max_functions || !share.take(2 * (sizeof load + name_bytes));
		if (is_cut_)
			break;
	}
	std::ranges::stable_sort(found, {}, &JitFunction::since);
	for (JitFunction &function : found)
		add(std::move(function));
}

const JitFunction *JitFunctions::find(std::uint64_t time, std::uint64_t address) const
{
	const auto page = by_page_.find(address >> page_shift);
	if (page == by_page_.end())
		return nullptr;
	for (auto at = page->second.rbegin(); at != page->second.rend(); ++at) {
		const JitFunction &function = functions_[*at];
		if (function.since <= time && address - function.address < function.size)
			return &function;
	}
	return nullptr;
}

} // namespace monitor::symbols
