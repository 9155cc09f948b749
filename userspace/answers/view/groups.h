// SPDX-License-Identifier: MIT
// Threads of a picture in groups: by process, by command, by cgroup. A group has a lane as a thread has: how much of
// the CPUs' time its threads had together. Made by picture.cpp; next in the flow: tile.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "timeline.h"

namespace monitor::view {

struct Group {
	std::string name;
	std::int32_t pid = 0;               // of a process
	std::vector<std::uint32_t> threads; // by place
};

class Groups {
public:
	enum By : std::uint8_t { process, command, cgroup };
	static constexpr std::array names = {"process", "command", "cgroup"};

	Groups() = default;
	// `cgroups`: the path of each cgroup, by its ID.
	Groups(const Timeline &timeline, const std::map<std::uint64_t, std::string> &cgroups);
	// From what json() returned, for a picture with this number of threads. Throws Error.
	Groups(const nlohmann::ordered_json &json, std::size_t threads);
	// {process: [{name, pid, ran, threads}], ...}, those that ran longest first, as the groups themselves.
	nlohmann::ordered_json json(const Timeline &timeline) const;

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
