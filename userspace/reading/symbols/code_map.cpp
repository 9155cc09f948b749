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
constexpr std::size_t min_look_back = 256; // changes

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
		file.size = number(member(entry, "size"));
		file.modified_ns = static_cast<std::int64_t>(number(member(entry, "modified_ns")));
		for (const Json &load : member(entry, "loads"))
			if (load.is_array() && load.size() == 3)
				file.loads.push_back({number(load[0]), number(load[1]), number(load[2])});
	}
	return files;
}

void CodeMap::finish()
{
	for (auto &[process, history] : by_process_) {
		std::ranges::stable_sort(history.changes, {}, &analyze::MappingToken::time);
		take_snapshots(history);
	}
}

// What it covers is mapped no more.
void CodeMap::map(std::map<std::uint64_t, Range> &ranges, const analyze::MappingToken &added, std::size_t change)
{
	if (added.end <= added.start)
		return;
	auto next = ranges.lower_bound(added.start);
	if (next != ranges.begin() && std::prev(next)->second.end > added.start) {
		Range &before = std::prev(next)->second;
		if (before.end > added.end)
			ranges.emplace(added.end, before);
		before.end = added.start;
		next = ranges.lower_bound(added.start);
	}
	while (next != ranges.end() && next->first < added.end) {
		const Range covered = next->second;
		next = ranges.erase(next);
		if (covered.end > added.end)
			next = ranges.emplace(added.end, covered).first;
	}
	ranges[added.start] = {added.end, change};
}

void CodeMap::take_snapshots(History &history)
{
	Snapshot now;
	std::size_t last = 0;
	for (std::size_t i = 0; i < history.changes.size(); ++i) {
		const analyze::MappingToken &change = history.changes[i];
		if (change.change == EDC_MAPPING_EXEC || change.change == EDC_MAPPING_COPIED) {
			now.ranges.clear();
			now.copied_at.reset();
			if (change.change == EDC_MAPPING_COPIED)
				now.copied_at = i;
		} else {
			map(now.ranges, change, i);
		}
		now.changes = i + 1;
		if (now.changes - last >= std::max(min_look_back, now.ranges.size())) {
			history.snapshots.push_back(now);
			last = now.changes;
		}
	}
}

std::optional<CodeMap::Place> CodeMap::find(std::int32_t process, std::uint64_t time, std::uint64_t address) const
{
	for (int ancestors = 0; ancestors < max_ancestors; ++ancestors) {
		const auto known = by_process_.find(process);
		if (known == by_process_.end())
			return {};
		const auto &[changes, snapshots] = known->second;
		const auto later = std::ranges::upper_bound(changes, time, {}, &analyze::MappingToken::time);
		auto at = static_cast<std::size_t>(later - changes.begin());
		const auto after = std::ranges::upper_bound(snapshots, at, {}, &Snapshot::changes);
		const Snapshot *snapshot = after == snapshots.begin() ? nullptr : &*std::prev(after);
		const auto place = [&](const analyze::MappingToken &in) {
			return Place{in.file, address - in.start + (in.file ? in.offset : 0), process};
		};
		std::optional<std::size_t> copied_at;
		for (; !copied_at && at > (snapshot ? snapshot->changes : 0); --at) {
			const analyze::MappingToken &change = changes[at - 1];
			if (change.change == EDC_MAPPING_EXEC)
				return {};
			if (change.change == EDC_MAPPING_COPIED)
				copied_at = at - 1;
			else if (address >= change.start && address < change.end)
				return place(change);
		}
		if (!copied_at && snapshot) {
			const auto next = snapshot->ranges.upper_bound(address);
			if (next != snapshot->ranges.begin() && address < std::prev(next)->second.end)
				return place(changes[std::prev(next)->second.change]);
			copied_at = snapshot->copied_at;
		}
		if (!copied_at)
			return {};
		process = changes[*copied_at].parent;
		time = changes[*copied_at].time;
	}
	return {};
}

} // namespace monitor::symbols
