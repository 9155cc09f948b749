// SPDX-License-Identifier: MIT
// The second stage of inference: each time that an activity was done, and the threads that do the same, which are a
// role.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steps.h"

namespace monitor::model {

// What identifies one of several instances with the same argument is how many there were before.
struct Key {
	std::uint64_t argument = 0;
	std::uint32_t occurrence = 0;

	auto operator<=>(const Key &) const = default;
	// For Iteration: the argument where it is unique.
	std::uint64_t item() const { return argument + (static_cast<std::uint64_t>(occurrence) << 32); }
};

struct Instance {
	Key key;
	std::uint32_t thread = 0; // by place in Steps::threads
	std::uint64_t begin = 0, end = 0;
	std::uint64_t cpu_ns = 0; // in none of those within it
};

// By name of the activity: in the order of their begins.
using Instances = std::map<std::string, std::vector<Instance>>;

// Of those that are done often enough for anything to be said of them.
inline constexpr std::size_t min_instances = 20;

struct Found {
	Instances instances;
	// The time of one that encloses all others and is done once, as a whole run is; else of the program.
	std::uint64_t elapsed = 0;
	std::string elapsed_of;            // that activity, or ""
	std::uint64_t first = 0, last = 0; // begin and end of all instances
};

Found find_instances(const Steps &steps);

struct RoleThreads {
	std::vector<std::string> activities; // in the order in which they are first done; none: known by name only
	std::string name;
	std::vector<std::uint32_t> threads; // by place in Steps::threads, in order
};

// Threads with the same activities; without any, those of one name that wake these and are woken by them.
std::vector<RoleThreads> find_roles(const Steps &steps, const Instances &instances);

} // namespace monitor::model
