// SPDX-License-Identifier: MIT
// The sixth stage of inference: the steps of a thread, divided into iterations, each a tree of what it does.
#pragma once

#include <string>
#include <vector>

#include "structure.h"
#include "waits.h"

namespace monitor::model {

// What is between two nodes of an iteration.
struct Gap {
	// A wake-up, or a wait for one, by a semaphore.
	struct Hand {
		bool is_wait = false;
		std::uint32_t semaphore = 0;

		auto operator<=>(const Hand &) const = default;
	};

	std::uint64_t before = 0, after = 0; // CPU time: ahead of the first hand, and after it
	std::uint64_t delay = 0;
	std::vector<Hand> hands;
};

struct Node {
	// cpu: an activity, and what is inside computes for it; or put, signal, await, lock, call, reply, barrier.
	Kind kind = Kind::cpu;
	std::string name; // activity, lock, barrier; await: the activity before
	std::size_t role = nothing;
	std::vector<Node> inside;
	Gap first, after; // ahead of the first node inside; after this one

	bool is_like(const Node &other) const { return kind == other.kind && name == other.name && role == other.role; }
};

struct Iteration {
	std::uint32_t thread = 0; // number within the role
	std::uint64_t begin = 0;
	std::uint64_t item = 0;
	Gap first;
	std::vector<Node> nodes;
};

// Of the role, thread by thread.
std::vector<Iteration> find_iterations(const Recording &recording, std::size_t index, const Structure &structure,
				       const Waits &waits, std::size_t role);

} // namespace monitor::model
