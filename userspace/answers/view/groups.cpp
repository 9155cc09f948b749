// SPDX-License-Identifier: MIT
#include "groups.h"

#include <algorithm>

#include <fmt/format.h>

namespace monitor::view {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t max_summed_bins = 1 << 22;

// Merges groups beyond the limit.
void join_others(std::vector<Group> &groups, std::size_t max_groups)
{
	if (groups.size() <= max_groups)
		return;
	Group others;
	std::set<std::uint32_t> threads; // one may have been in several cgroups
	others.name = fmt::format("{} others", groups.size() - max_groups + 1);
	for (auto group = groups.begin() + static_cast<std::ptrdiff_t>(max_groups) - 1; group != groups.end();
	     ++group) {
		threads.insert(group->threads.begin(), group->threads.end());
		others.cgroups.insert(group->cgroups.begin(), group->cgroups.end());
	}
	others.threads.assign(threads.begin(), threads.end());
	groups.resize(max_groups - 1);
	groups.push_back(std::move(others));
}

} // namespace

std::uint64_t Group::ran(const Timeline &timeline) const
{
	std::uint64_t ticks = 0;
	for (const std::uint32_t index : threads)
		for (const Stay &stay : timeline.threads()[index].stays)
			ticks += has(stay) ? stay.runs.busy() : 0;
	return ticks;
}

Groups::Groups(const Timeline &timeline, const std::map<std::uint64_t, std::string> &cgroups, std::size_t max_groups)
{
	std::map<std::int32_t, Group> processes;
	std::map<std::string, Group> commands, by_cgroup;
	for (std::uint32_t index = 0; index < timeline.threads().size(); ++index) {
		const ThreadLanes &thread = timeline.threads()[index];
		if (thread.tid == 0)
			continue; // interrupts on idle CPUs belong to no group
		Group &process = processes[thread.tgid];
		process.pid = thread.tgid;
		process.name = thread.command;
		process.threads.push_back(index);
		commands[thread.command].threads.push_back(index);
		for (const Stay &stay : thread.stays) {
			const auto path = cgroups.find(stay.cgroup);
			Group &group = by_cgroup[path != cgroups.end() ? path->second
						 : stay.cgroup         ? fmt::format("cgroup {}", stay.cgroup)
								       : "unknown"];
			group.cgroups.insert(stay.cgroup);
			if (group.threads.empty() || group.threads.back() != index)
				group.threads.push_back(index);
		}
	}
	for (auto &[pid, group] : processes)
		groups_[process].push_back(std::move(group));
	for (const auto &[by, groups] : {std::pair{command, &commands}, std::pair{cgroup, &by_cgroup}})
		for (auto &[name, group] : *groups) {
			group.name = name;
			groups_[by].push_back(std::move(group));
		}
	for (std::vector<Group> &groups : groups_) {
		std::vector<std::pair<std::uint64_t, std::size_t>> order; // by CPU time
		for (std::size_t i = 0; i < groups.size(); ++i)
			order.emplace_back(groups[i].ran(timeline), i);
		std::ranges::stable_sort(order, std::ranges::greater(), &decltype(order)::value_type::first);
		std::vector<Group> sorted;
		for (const auto &[ticks, index] : order)
			sorted.push_back(std::move(groups[index]));
		groups = std::move(sorted);
		join_others(groups, max_groups);
	}
}

Json Groups::json(const Timeline &timeline, const Rows &rows) const
{
	Json json = Json::object();
	for (std::size_t by = 0; by < names.size(); ++by) {
		Json &list = json[names[by]] = Json::array();
		for (const Group &group : groups_[by]) {
			std::set<std::uint32_t> of_threads;
			for (const std::uint32_t index : group.threads)
				of_threads.insert(rows.row_of(index));
			list.push_back({{"name", group.name},
					{"pid", group.pid},
					{"ran", group.ran(timeline)},
					{"number", group.threads.size()},
					{"threads", std::move(of_threads)}});
		}
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
		throw TooMuch();
	struct Bin {
		std::uint64_t busy = 0, most = 0; // `most`: of the key
		std::uint32_t count = 0, key = 0;
	};
	std::vector<Bin> bins(to_bin - from_bin);
	for (const auto &[slices, key] : lanes)
		for (const Slice &slice : slices) {
			// A long slice is spread over its bins; the remainder of the division goes to the last ones.
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
