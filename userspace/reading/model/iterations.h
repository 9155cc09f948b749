// SPDX-License-Identifier: MIT
// The sixth stage of inference: divides the steps of a thread into iterations, and makes a tree of each.
#pragma once

#include <string>
#include <vector>

#include "structure.h"
#include "waits.h"

namespace monitor::model {

// What happens between two nodes.
struct Gap {
	// An operation on a semaphore.
	struct SemaphoreUse {
		bool is_wait = false;
		std::uint32_t semaphore = 0;

		auto operator<=>(const SemaphoreUse &) const = default;
	};

	std::uint64_t before = 0, after = 0; // CPU time before the first use, and after it
	std::uint64_t delay = 0;             // waiting time that becomes a sleep
	std::vector<SemaphoreUse> uses;
};

struct Node {
	// cpu: an activity, and what is inside computes for it; or put, signal, await, lock, call, reply, barrier.
	Kind kind = Kind::cpu;
	std::string name; // activity, lock, barrier; await: the activity before
	std::size_t role = nothing;
	std::vector<Node> inside;
	Gap first, after; // before the first node inside; after this node

	bool is_like(const Node &other) const { return kind == other.kind && name == other.name && role == other.role; }
};

struct Iteration {
	std::uint32_t thread = 0; // number within the role
	std::uint64_t begin = 0;
	std::uint64_t item = 0;
	Gap first;
	std::vector<Node> nodes;
};

// Those of a role, by thread, or for pools and split roles by their beginning. `index` is the recording's in `waits`.
std::vector<Iteration> find_iterations(const Recording &recording, std::size_t index, const Structure &structure,
				       const Waits &waits, std::size_t role);

} // namespace monitor::model
