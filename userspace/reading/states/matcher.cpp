// SPDX-License-Identifier: MIT
#include "matcher.h"

#include <utility>

namespace monitor::states {

std::uint32_t Matcher::number_before(std::span<const Run> runs, Set after, std::uint32_t *numbers)
{
	if (sets_.size() + runs.size() + 1 > max_sets) { // each run may need a new one
		known_.clear();
		sets_.clear();
		before_.clear();
	}
	std::uint32_t set = set_number(std::move(after));
	if (numbers)
		numbers[runs.size()] = set;
	for (std::size_t i = runs.size(); i-- > 0;) {
		const std::uint16_t column = automaton_.column(runs[i].state);
		const std::uint32_t before = before_[set * automaton_.columns() + column];
		set = before != none ? before : compute_before(set, column);
		if (numbers)
			numbers[i] = set;
	}
	return set;
}

std::uint32_t Matcher::set_number(Set set)
{
	const auto [found, is_new] = known_.try_emplace(std::move(set), static_cast<std::uint32_t>(sets_.size()));
	if (is_new) {
		sets_.push_back(found->first);
		before_.resize(before_.size() + automaton_.columns(), none);
	}
	return found->second;
}

// A match can be completed from a place if the next state completes one, or leads to a place from which one can.
std::uint32_t Matcher::compute_before(std::uint32_t set, std::uint16_t column)
{
	Set made((automaton_.places() + 63) / 64);
	for (std::size_t place = 1; place < automaton_.places(); ++place) {
		const Automaton::Place next = automaton_.next(static_cast<Automaton::Place>(place), column);
		if (automaton_.accepts(next) || is_in(set, next))
			made[place / 64] |= std::uint64_t{1} << place % 64;
	}
	const std::uint32_t number = set_number(std::move(made));
	before_[set * automaton_.columns() + column] = number;
	return number;
}

} // namespace monitor::states
