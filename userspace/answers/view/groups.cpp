// SPDX-License-Identifier: MIT
#include "groups.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace monitor::view {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t max_summed_bins = 1 << 22;

std::uint64_t ran(const Group &group, const Timeline &timeline)
{
	std::uint64_t ticks = 0;
	for (const std::uint32_t place : group.threads)
		ticks += timeline.threads()[place].runs.busy();
	return ticks;
}

} // namespace

Groups::Groups(const Timeline &timeline, const std::map<std::uint64_t, std::string> &cgroups)
{
	std::map<std::int32_t, Group> processes;
	std::map<std::string, Group> commands, by_cgroup;
	for (std::uint32_t place = 0; place < timeline.threads().size(); ++place) {
		const ThreadLanes &thread = timeline.threads()[place];
		if (thread.tid == 0)
			continue; // what interrupts take from idle CPUs is nobody's
		Group &process = processes[thread.tgid];
		process.pid = thread.tgid;
		if (process.name.empty() || thread.tid == thread.tgid)
			process.name = thread.name;
		process.threads.push_back(place);
		commands[thread.name].threads.push_back(place);
		const auto path = cgroups.find(thread.cgroup);
		const std::string name = path != cgroups.end() ? path->second
					 : thread.cgroup       ? fmt::format("cgroup {}", thread.cgroup)
							       : "unknown";
		by_cgroup[name].threads.push_back(place);
	}
	for (auto &[pid, group] : processes)
		groups_[process].push_back(std::move(group));
	for (const auto &[by, groups] : {std::pair{command, &commands}, std::pair{cgroup, &by_cgroup}})
		for (auto &[name, group] : *groups) {
			group.name = name;
			groups_[by].push_back(std::move(group));
		}
	for (std::vector<Group> &groups : groups_)
		std::ranges::stable_sort(groups, std::ranges::greater(),
					 [&](const Group &group) { return ran(group, timeline); });
}

Groups::Groups(const Json &json, std::size_t threads)
{
	for (std::size_t by = 0; by < names.size(); ++by)
		for (const Json &entry : json.at(names[by])) {
			groups_[by].push_back({entry.at("name"), entry.at("pid"), entry.at("threads")});
			for (const std::uint32_t place : groups_[by].back().threads)
				if (place >= threads)
					throw Error("the kept picture lacks a thread");
		}
}

Json Groups::json(const Timeline &timeline) const
{
	Json json = Json::object();
	for (std::size_t by = 0; by < names.size(); ++by) {
		Json &list = json[names[by]] = Json::array();
		for (const Group &group : groups_[by])
			list.push_back({{"name", group.name},
					{"pid", group.pid},
					{"ran", ran(group, timeline)},
					{"threads", group.threads}});
	}
	return json;
}

std::vector<Slice> summed(const std::vector<LanePart> &lanes, std::uint64_t from_bin, std::uint64_t to_bin)
{
	std::uint64_t last = from_bin;
	for (const auto &[slices, key] : lanes)
		if (!slices.empty())
			last = std::max(last, std::uint64_t(slices.back().bin) + slices.back().bins);
	to_bin = std::min(to_bin, last);
	if (from_bin >= to_bin)
		return {};
	if (to_bin - from_bin > max_summed_bins)
		throw Error("this is too much at once: ask for a part of it");
	struct Bin {
		std::uint64_t busy = 0, most = 0; // `most`: of the key
		std::uint32_t count = 0, key = 0;
	};
	std::vector<Bin> bins(to_bin - from_bin);
	for (const auto &[slices, key] : lanes)
		for (const Slice &slice : slices) {
			// A long one is spread over its bins; what is left of the division is in the last ones.
			const std::uint64_t begin = std::max<std::uint64_t>(slice.bin, from_bin);
			const std::uint64_t end =
			    std::min<std::uint64_t>(std::uint64_t(slice.bin) + slice.bins, to_bin);
			const std::uint64_t each = slice.busy / slice.bins, rest = slice.busy % slice.bins;
			for (std::uint64_t bin = begin; bin < end; ++bin) {
				const bool has_more = bin - slice.bin >= slice.bins - rest;
				Bin &sum = bins[bin - from_bin];
				sum.busy += each + (has_more ? 1 : 0);
				if (each >= sum.most) {
					sum.most = each;
					sum.key = key;
				}
			}
			if (begin < end)
				bins[begin - from_bin].count += slice.count;
		}
	std::vector<Slice> made;
	for (std::size_t i = 0; i < bins.size(); ++i) {
		if (bins[i].busy == 0)
			continue;
		const auto bin = static_cast<std::uint32_t>(from_bin + i);
		if (!made.empty() && made.back().bin + made.back().bins == bin && bins[i].key == made.back().key &&
		    bins[i].busy * made.back().bins == made.back().busy && bins[i].count == 0) {
			++made.back().bins;
			made.back().busy += bins[i].busy;
		} else {
			made.push_back({bin, 1, bins[i].key, bins[i].count, bins[i].busy});
		}
	}
	return made;
}

} // namespace monitor::view
