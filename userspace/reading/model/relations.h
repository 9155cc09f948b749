// SPDX-License-Identifier: MIT
// The third stage of inference: what instances of activities have to do with each other. The same counts say whether
// another recording fulfils what a model claims.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances.h"

namespace monitor::model {

struct Relation {
	enum class Kind : std::uint8_t {
		alone,    // one thread at a time does `first`, or `first` or `second`: a lock
		follows,  // `second` of an item begins when `first` of it has ended
		within,   // `second` is done within `first` of the same item, by another thread: a call
		in_order, // `first` is done in the order of the items
		as_ready, // `second` is done in the order in which `first` of the items ended
		capacity, // never more than `limit` items are between `first` and `second`
		barrier,  // no thread begins `second` of an item before all have ended `first` of it
		next,     // the same, of the next item
	} kind = Kind::alone;
	std::string first, second;
	std::uint64_t limit = 0;

	auto operator<=>(const Relation &) const = default;
};

struct Counts {
	std::uint64_t held = 0, total = 0;
	double by_chance = 0;   // alone: how many would have been broken if the threads did not exclude each other
	std::uint64_t peak = 0; // capacity: how many there were at most

	// What is always so may be seen otherwise now and then, where events of two CPUs are a moment apart.
	bool holds() const { return total > 0 && static_cast<double>(held) >= 0.995 * static_cast<double>(total); }
};

// Of a queue: one item more waits to be put, and each thread may have taken one that it has not begun.
inline Relation capacity_of(const std::string &first, const std::string &second, std::uint64_t capacity,
			    std::size_t threads)
{
	return {Relation::Kind::capacity, first, second, capacity + 1 + threads};
}

Counts count(const Relation &relation, const Instances &instances);
// "squeeze follows check of the same item: 800 of 800"
std::string relation_text(const Relation &relation, const Counts &counts);

// Locks, arcs, calls and barriers. Arcs that others imply are left out.
std::vector<Relation> find_relations(const Steps &steps, const Instances &instances);

} // namespace monitor::model
