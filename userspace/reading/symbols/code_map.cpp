// SPDX-License-Identifier: MIT
#include "code_map.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/untrusted_json.h"
#include "monitor/card.h"

namespace monitor::symbols {

using untrusted_json::flag, untrusted_json::Json, untrusted_json::member, untrusted_json::number, untrusted_json::text;

namespace {

constexpr int max_ancestors = 1000;
constexpr std::size_t min_look_back = 256; // changes
constexpr std::size_t max_assumed = 64;    // ranges of a file

// Bytes from pairs of hexadecimal digits, up to the first invalid pair.
std::string from_hex(const std::string &hex)
{
	std::string bytes;
	for (std::size_t at = 0; at + 2 <= hex.size(); at += 2) {
		unsigned char byte = 0;
		const char *const end = hex.data() + at + 2;
		if (std::from_chars(hex.data() + at, end, byte, 16).ptr != end)
			break;
		bytes += static_cast<char>(byte);
	}
	return bytes;
}

analyze::MappingToken clipped(const analyze::MappingToken &whole, std::uint64_t start, std::uint64_t end)
{
	analyze::MappingToken part = whole;
	part.offset += start - whole.start;
	part.start = start;
	part.end = end;
	return part;
}

} // namespace

std::uint64_t CodeFile::address_of(std::uint64_t offset) const
{
	for (const Load &load : loads)
		if (offset >= load.offset && offset - load.offset < load.size)
			return load.address + (offset - load.offset);
	return offset;
}

bool CodeFile::is_assumed(std::uint64_t address) const
{
	return std::ranges::any_of(
	    assumed, [address](const auto &range) { return address >= range.first && address < range.second; });
}

CodeList parse_code_list(const std::string &untrusted_text)
{
	CodeList list;
	std::istringstream lines(untrusted_text);
	for (std::string line; std::getline(lines, line);) {
		const Json entry = parse_json(line);
		if (!entry.is_object())
			continue;
		if (entry.contains("process"))
			list.numbers[static_cast<std::int32_t>(number(entry["process"]))] =
			    static_cast<std::int32_t>(number(member(entry, "inside")));
		if (entry.contains("user"))
			list.without_room.emplace(static_cast<std::uint32_t>(number(entry["user"])),
						  text(member(entry, "without_room")));
		list.opener_lost |= flag(member(entry, "opener_lost"));
		if (!entry.contains("file"))
			continue;
		CodeFile &file = list.files[static_cast<std::uint32_t>(number(entry["file"]))];
		file = {}; // a later line replaces it
		file.path =
		    entry.contains("path_bytes") ? from_hex(text(entry["path_bytes"])) : text(member(entry, "path"));
		file.build_id = text(member(entry, "build_id"));
		file.size = number(member(entry, "size"));
		file.modified_ns = static_cast<std::int64_t>(number(member(entry, "modified_ns")));
		for (const Json &load : member(entry, "loads"))
			if (load.is_array() && load.size() == 3)
				file.loads.push_back({number(load[0]), number(load[1]), number(load[2])});
		for (const Json &range : member(entry, "assumed"))
			if (range.is_array() && range.size() == 2 && file.assumed.size() < max_assumed)
				file.assumed.emplace_back(number(range[0]), number(range[1]));
		file.has_unknown_go = flag(member(entry, "unknown_go"));
	}
	return list;
}

void CodeMap::add(const analyze::MappingToken &change)
{
	if (size_ >= max_changes_) {
		++left_out_;
		return;
	}
	++size_;
	by_process_[change.process].changes.push_back(change);
	unsorted_.insert(change.process);
	untrimmed_.insert(change.process);
}

void CodeMap::finish()
{
	for (const std::int32_t process : std::exchange(unsorted_, {})) {
		History &history = by_process_[process];
		std::ranges::stable_sort(history.changes, {}, &analyze::MappingToken::time);
		take_snapshots(history);
	}
}

// Removes what the new mapping covers.
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

void CodeMap::add_change(Snapshot &to, const analyze::MappingToken &change, std::size_t index)
{
	if (change.change == EDC_MAPPING_EXEC || change.change == EDC_MAPPING_COPIED) {
		to.ranges.clear();
		to.copied_at.reset();
		if (change.change == EDC_MAPPING_COPIED)
			to.copied_at = index;
	} else {
		map(to.ranges, change, index);
	}
	to.changes = index + 1;
}

void CodeMap::take_snapshots(History &history)
{
	history.snapshots.clear();
	Snapshot now;
	std::size_t last = 0;
	for (std::size_t i = 0; i < history.changes.size(); ++i) {
		add_change(now, history.changes[i], i);
		if (now.changes - last >= std::max(min_look_back, now.ranges.size())) {
			history.snapshots.push_back(now);
			last = now.changes;
		}
	}
}

// The mappings at this time, as tokens; a forked process's copy has its parent's.
std::vector<analyze::MappingToken> CodeMap::mapped_at(std::int32_t process, std::uint64_t time, int ancestors) const
{
	const auto known = by_process_.find(process);
	if (known == by_process_.end() || ancestors >= max_ancestors)
		return {};
	const std::vector<analyze::MappingToken> &changes = known->second.changes;
	Snapshot now;
	for (std::size_t i = 0; i < changes.size() && changes[i].time <= time; ++i)
		add_change(now, changes[i], i);
	std::vector<analyze::MappingToken> mapped;
	if (now.copied_at) {
		const analyze::MappingToken &copy = changes[*now.copied_at];
		Snapshot with_copy; // its own later mappings cover the copied ones
		std::vector<analyze::MappingToken> all = mapped_at(copy.parent, copy.time, ancestors + 1);
		for (std::size_t i = 0; i < all.size(); ++i)
			map(with_copy.ranges, all[i], i);
		for (const auto &[start, range] : now.ranges) {
			all.push_back(clipped(changes[range.change], start, range.end));
			map(with_copy.ranges, all.back(), all.size() - 1);
		}
		for (const auto &[start, range] : with_copy.ranges)
			mapped.push_back(clipped(all[range.change], start, range.end));
	} else {
		for (const auto &[start, range] : now.ranges)
			mapped.push_back(clipped(changes[range.change], start, range.end));
	}
	return mapped;
}

void CodeMap::forget_before(std::uint64_t time)
{
	std::map<std::int32_t, std::vector<analyze::MappingToken>> kept;
	std::erase_if(untrimmed_, [&](std::int32_t process) {
		const std::vector<analyze::MappingToken> &changes = by_process_[process].changes;
		const auto later = std::ranges::upper_bound(changes, time, {}, &analyze::MappingToken::time);
		if (later == changes.begin())
			return false;
		std::vector<analyze::MappingToken> &all = kept[process] = mapped_at(process, time, 0);
		std::ranges::stable_sort(all, {}, &analyze::MappingToken::time);
		all.insert(all.end(), later, changes.end());
		return later == changes.end();
	});
	for (auto &[process, changes] : kept) { // only now, as forks may have copied the earlier mappings
		History &history = by_process_[process];
		size_ = size_ - history.changes.size() + changes.size();
		history.changes = std::move(changes);
		if (history.changes.empty())
			by_process_.erase(process);
		else
			take_snapshots(history);
	}
}

void CodeMap::ended(std::int32_t process, std::uint64_t time)
{
	const auto known = by_process_.find(process);
	if (known == by_process_.end() || (!known->second.changes.empty() && known->second.changes.back().time > time))
		return;
	size_ -= known->second.changes.size();
	by_process_.erase(known);
	unsorted_.erase(process);
	untrimmed_.erase(process);
}

std::optional<CodeMap::Location> CodeMap::find(std::int32_t process, std::uint64_t time, std::uint64_t address) const
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
		const auto location_in = [&](const analyze::MappingToken &in) {
			return Location{in.file, address - in.start + (in.file ? in.offset : 0), in.process};
		};
		std::optional<std::size_t> copied_at;
		for (; !copied_at && at > (snapshot ? snapshot->changes : 0); --at) {
			const analyze::MappingToken &change = changes[at - 1];
			if (change.change == EDC_MAPPING_EXEC)
				return {};
			if (change.change == EDC_MAPPING_COPIED)
				copied_at = at - 1;
			else if (address >= change.start && address < change.end)
				return location_in(change);
		}
		if (!copied_at && snapshot) {
			const auto next = snapshot->ranges.upper_bound(address);
			if (next != snapshot->ranges.begin() && address < std::prev(next)->second.end)
				return location_in(changes[std::prev(next)->second.change]);
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
