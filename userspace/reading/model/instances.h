// SPDX-License-Identifier: MIT
// The second stage of inference: the instances of each activity, and the roles: sets of threads that do the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steps.h"

namespace monitor::model {

struct Key {
	std::uint64_t argument = 0;
	std::uint32_t occurrence = 0; // how many earlier instances have this argument

	auto operator<=>(const Key &) const = default;
	// The number of the item: the argument, if it is unique.
	std::uint64_t item() const { return argument + (static_cast<std::uint64_t>(occurrence) << 32); }
};

struct Instance {
	Key key;
	std::uint32_t thread = 0; // in Steps::threads
	std::uint64_t begin = 0, end = 0;
	std::uint64_t cpu_ns = 0; // without activities within it
};

// By activity, in the order in which they began.
using Instances = std::map<std::string, std::vector<Instance>>;

// Activities with fewer are left out.
inline constexpr std::size_t min_instances = 20;

struct FoundInstances {
	Instances instances;
	// Of the activity that is done once and encloses all others, if there is one; else of the recorded command.
	std::uint64_t elapsed = 0;
	std::string elapsed_of;            // that activity, or ""
	std::uint64_t first = 0, last = 0; // the first beginning and the last end of all instances
};

FoundInstances find_instances(const Steps &steps);

struct RoleThreads {
	std::vector<std::string> activities; // in the order in which they are first done; may be none
	std::string name;                    // different for all roles
	std::vector<std::uint32_t> threads;  // in Steps::threads, ascending
};

// A role is all threads with the same activities; or those of the same name without any, which threads with activities
// often wake.
std::vector<RoleThreads> find_roles(const Steps &steps, const Instances &instances);

} // namespace monitor::model
