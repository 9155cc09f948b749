// SPDX-License-Identifier: MIT
// Threads of a picture in groups: by process, by command, by cgroup. A group has a lane as a thread has: how much of
// the CPUs' time its threads had together; of a cgroup, while they were in it. Made by picture.cpp; next in the flow:
// tile.cpp.
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
	std::vector<std::uint32_t> threads; // by place
	std::set<std::uint64_t> cgroups;    // what they did in these; empty: all
	// Whether it has what a thread ran in this stay.
	bool has(const Stay &stay) const { return cgroups.empty() || cgroups.contains(stay.cgroup); }
	std::uint64_t ran(const Timeline &timeline) const; // ticks
};

class Groups {
public:
	enum By : std::uint8_t { process, command, cgroup };
	static constexpr std::array names = {"process", "command", "cgroup"};

	// Of each kind those that ran longest; the last one may be of all others together.
	static constexpr std::size_t max_groups = 8192;

	Groups() = default;
	// `cgroups`: the path of each cgroup, by its ID.
	Groups(const Timeline &timeline, const std::map<std::uint64_t, std::string> &cgroups,
	       std::size_t max_groups = Groups::max_groups);
	// {process: [{name, pid, ran, number, threads}], ...}, those that ran longest first, as the groups themselves.
	// `number`: how many threads it has. `threads`: their rows.
	nlohmann::ordered_json json(const Timeline &timeline, const Rows &rows) const;

	const std::vector<Group> &by(By by) const { return groups_[by]; }

private:
	std::array<std::vector<Group>, names.size()> groups_;
};

// Slices of a lane, and the key that they have in a sum.
struct LanePart {
	std::span<const Slice> slices;
	std::uint32_t key = 0;
};

// Several lanes as one: the ticks of each bin from `from_bin` to before `to_bin` together, and the key that has most of
// them. Throws Error: those are too many.
std::vector<Slice> summed(const std::vector<LanePart> &lanes, std::uint64_t from_bin, std::uint64_t to_bin);

} // namespace monitor::view
