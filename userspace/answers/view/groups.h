// SPDX-License-Identifier: MIT
// Groups of a picture's threads: by process, by command, by cgroup. A group has a lane like a thread's: the CPU time of
// all of its threads; for a cgroup, while they were in it. Made by picture.cpp; next in the flow: tile.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "rows.h"
#include "timeline.h"

namespace monitor::view {

struct Group {
	std::string name;
	std::int32_t pid = 0;               // of a process
	std::vector<std::uint32_t> threads; // indices in the timeline
	std::set<std::uint64_t> cgroups;    // usage in these only; empty: all
	// Whether the stay's usage belongs to the group.
	bool has(const Stay &stay) const { return cgroups.empty() || cgroups.contains(stay.cgroup); }
	std::uint64_t ran(const Timeline &timeline) const; // ticks
};

class Groups {
public:
	enum By : std::uint8_t { process, command, cgroup };
	static constexpr std::array names = {"process", "command", "cgroup"};

	// Per kind, those with the most CPU time; the last group may be all others.
	static constexpr std::size_t max_groups = 8192;

	Groups() = default;
	// `cgroups`: the path of each cgroup, by its ID.
	Groups(const Timeline &timeline, const std::map<std::uint64_t, std::string> &cgroups,
	       std::size_t max_groups = Groups::max_groups);
	// {process: [{name, pid, ran, number, threads}], ...}, sorted by CPU time. `number`: of threads. `threads`:
	// their rows.
	nlohmann::ordered_json json(const Timeline &timeline, const Rows &rows) const;

	const std::vector<Group> &by(By by) const { return groups_[by]; }

private:
	std::array<std::vector<Group>, names.size()> groups_;
};

// A lane's slices, and their key in a sum.
struct LanePart {
	std::span<const Slice> slices;
	std::uint32_t key = 0;
};

// The sum of several lanes: for each bin from `from_bin` to before `to_bin` the ticks, and the key with the most.
// Throws Error: too many bins.
std::vector<Slice> summed(const std::vector<LanePart> &lanes, std::uint64_t from_bin, std::uint64_t to_bin);

} // namespace monitor::view
