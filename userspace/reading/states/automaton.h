// SPDX-License-Identifier: MIT
// A pattern as a deterministic automaton: a transition table. Its states are called places, as the input symbols are
// states of the tree.
// Made from a Pattern, run by Matcher (matcher.h). Input states that the pattern does not distinguish share a column.
// Invariants: place 0 is dead, no match continues from there; there are at most max_places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pattern.h"

namespace monitor::states {

class Automaton {
public:
	using Place = std::uint16_t;
	static constexpr std::size_t max_places = 1024, max_parts = 4096;
	static constexpr Place dead = 0, start = 1;

	// Throws Error if it is too large.
	Automaton(const Pattern &pattern, const Tree &tree);

	std::size_t places() const { return accepts_.size(); }
	std::size_t columns() const { return columns_; }
	std::uint16_t column(State state) const { return column_of_[state]; }
	Place next(Place from, std::uint16_t column) const { return next_[from * columns_ + column]; }
	// Whether the input that led to this place matches.
	bool accepts(Place place) const { return accepts_[place]; }

private:
	std::size_t columns_ = 0;
	std::vector<std::uint16_t> column_of_; // by state
	std::vector<Place> next_;              // by place and column
	std::vector<bool> accepts_;
};

} // namespace monitor::states
