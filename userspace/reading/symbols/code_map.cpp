// SPDX-License-Identifier: MIT
#include "code_map.h"

#include <algorithm>
#include <sstream>

#include "monitor/card.h"
#include "reading/analyze/untrusted_json.h"

namespace monitor::symbols {

using analyze::Json, analyze::member, analyze::number, analyze::text;

namespace {

constexpr int max_ancestors = 1000;

} // namespace

std::uint64_t CodeFile::address_of(std::uint64_t offset) const
{
	for (const Load &load : loads)
		if (offset >= load.offset && offset - load.offset < load.size)
			return load.address + (offset - load.offset);
	return offset;
}

std::unordered_map<std::uint32_t, CodeFile> parse_code_files(const std::string &untrusted_text)
{
	std::unordered_map<std::uint32_t, CodeFile> files;
	std::istringstream lines(untrusted_text);
	for (std::string line; std::getline(lines, line);) {
		const Json entry = parse_json(line);
		if (!entry.is_object() || !entry.contains("file"))
			continue;
		CodeFile &file = files[static_cast<std::uint32_t>(number(entry["file"]))];
		file.path = text(member(entry, "path"));
		file.build_id = text(member(entry, "build_id"));
		for (const Json &load : member(entry, "loads"))
			if (load.is_array() && load.size() == 3)
				file.loads.push_back({number(load[0]), number(load[1]), number(load[2])});
	}
	return files;
}

void CodeMap::finish()
{
	for (auto &[process, changes] : by_process_)
		std::ranges::stable_sort(changes, {}, &analyze::MappingToken::time);
}

std::optional<CodeMap::Place> CodeMap::find(std::int32_t process, std::uint64_t time, std::uint64_t address) const
{
	for (int ancestors = 0; ancestors < max_ancestors; ++ancestors) {
		const auto known = by_process_.find(process);
		if (known == by_process_.end())
			return {};
		auto next = std::ranges::upper_bound(known->second, time, {}, &analyze::MappingToken::time);
		bool is_copy = false;
		while (next != known->second.begin() && !is_copy) {
			--next;
			if (next->change == EDC_MAPPING_EXEC)
				return {};
			if (next->change == EDC_MAPPING_COPIED) {
				process = next->parent;
				time = next->time;
				is_copy = true;
			} else if (address >= next->start && address < next->end) {
				return Place{next->file, address - next->start + (next->file ? next->offset : 0),
					     process};
			}
		}
		if (!is_copy)
			return {};
	}
	return {};
}

} // namespace monitor::symbols
