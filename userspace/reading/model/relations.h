// SPDX-License-Identifier: MIT
// The third stage of inference: relations between activities, such as locks and arcs, with counts of how often they
// held. The same counts are used to check a recording against a model's claims.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances.h"

namespace monitor::model {

struct Relation {
	enum class Kind : std::uint8_t {
		alone,    // only one thread at a time does `first` (or `second`, if it is not ""): a lock
		follows,  // `second` begins after `first` of the same item has ended: an arc
		within,   // `second` is done during `first` of the same item, by another thread: a call
		in_order, // `first` is done in the order of the items' numbers
		as_ready, // `second` is done in the order in which `first` ended
		capacity, // at most `limit` items have ended `first` and not begun `second`
		barrier,  // `second` begins after all threads have ended `first` of the same item
		next,     // `second` of the next item begins after all threads have ended `first`
	} kind = Kind::alone;
	std::string first, second;
	std::uint64_t limit = 0;

	auto operator<=>(const Relation &) const = default;
};

struct Counts {
	std::uint64_t held = 0, total = 0;
	double by_chance = 0;   // alone: how many instances would overlap if threads did not exclude each other
	std::uint64_t peak = 0; // capacity: the largest number of items

	// Allows 0.5 % of exceptions: nearly simultaneous events of two CPUs may be recorded in the wrong order.
	bool holds() const { return total > 0 && static_cast<double>(held) >= 0.995 * static_cast<double>(total); }
};

// Of a queue: one more item waits to be put, and each thread may have taken one and not begun it.
inline Relation capacity_of(const std::string &first, const std::string &second, std::uint64_t capacity,
			    std::size_t threads)
{
	return {Relation::Kind::capacity, first, second, capacity + 1 + threads};
}

Counts count(const Relation &relation, const Instances &instances);
// "squeeze follows check of the same item: 800 of 800"
std::string relation_text(const Relation &relation, const Counts &counts);

// The locks, arcs, calls and barriers, without arcs that are implied by two others.
std::vector<Relation> find_relations(const Steps &steps, const Instances &instances);

} // namespace monitor::model
