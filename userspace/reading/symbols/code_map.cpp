// SPDX-License-Identifier: MIT
#include "code_map.h"

#include <algorithm>
#include <sstream>

#include "monitor/card.h"
#include "reading/analyze/untrusted_json.h"

namespace monitor::symbols {
namespace {

constexpr int max_ancestors = 1000;

std::uint64_t number_of(const nlohmann::json &value)
{
	return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

std::string text_of(const nlohmann::json &object, const char *key)
{
	return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

} // namespace

std::uint64_t CodeFile::address_of(std::uint64_t offset) const
{
	for (const Load &load : loads)
		if (offset >= load.offset && offset - load.offset < load.size)
			return load.address + (offset - load.offset);
	return offset;
}

std::unordered_map<std::uint32_t, CodeFile> parse_code_files(const std::string &text)
{
	std::unordered_map<std::uint32_t, CodeFile> files;
	std::istringstream lines(text);
	for (std::string line; std::getline(lines, line);) {
		const nlohmann::json entry = parse_json(line);
		if (!entry.is_object() || !entry.contains("file"))
			continue;
		CodeFile &file = files[static_cast<std::uint32_t>(number_of(entry["file"]))];
		file.path = text_of(entry, "path");
		file.build_id = text_of(entry, "build_id");
		if (!entry.contains("loads") || !entry["loads"].is_array())
			continue;
		for (const nlohmann::json &load : entry["loads"])
			if (load.is_array() && load.size() == 3)
				file.loads.push_back({number_of(load[0]), number_of(load[1]), number_of(load[2])});
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
				return Place{next->file, address - next->start + (next->file ? next->offset : 0)};
			}
		}
		if (!is_copy)
			return {};
	}
	return {};
}

} // namespace monitor::symbols
