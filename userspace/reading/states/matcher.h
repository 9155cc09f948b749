// SPDX-License-Identifier: MIT
// Finds the matches of a pattern in a sequence of runs: leftmost, longest, not nested, not empty. Time is linear in the
// runs, whatever the pattern.
// Matcher matcher(automaton); matcher.find(runs, [&](std::size_t first, std::size_t end) { ... });
// A match continues only while it can be completed: for each position the places of the automaton from which a match
// will be completed form a set, computed backwards. As few such sets occur, they are numbered, and steps from one to
// the one before are cached. The sets at the boundaries of blocks are kept, those within a block computed again when
// needed, so memory is a few bits per block. Reusable for the next subject. Invariant: each run is read at most three
// times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "automaton.h"
#include "evaluator.h"

namespace monitor::states {

class Matcher {
public:
	explicit Matcher(const Automaton &automaton) : automaton_(automaton) {}

	// Calls found(first, end) for every match: runs[first] to runs[end - 1].
	template <class Found> void find(std::span<const Run> runs, Found &&found)
	{
		const std::size_t blocks = (runs.size() + block_size - 1) / block_size;
		std::vector<Set> after(blocks + 1); // each block
		after[blocks] = Set((automaton_.places() + 63) / 64);
		for (std::size_t i = blocks; i-- > 1;)
			after[i] = sets_[number_before(block_runs(runs, i), after[i + 1], nullptr)];
		std::vector<std::uint32_t> live(block_size + 1);
		Automaton::Place place = Automaton::dead;
		std::size_t first = 0;
		for (std::size_t i = 0; i < blocks; ++i) {
			const std::span<const Run> in_block = block_runs(runs, i);
			number_before(in_block, after[i + 1], live.data());
			for (std::size_t at = 0; at < in_block.size(); ++at) {
				if (place == Automaton::dead) {
					if (!is_in(live[at], Automaton::start))
						continue;
					place = Automaton::start;
					first = i * block_size + at;
				}
				place = automaton_.next(place, automaton_.column(in_block[at].state));
				if (is_in(live[at + 1], place))
					continue;
				found(first, i * block_size + at + 1);
				place = Automaton::dead;
			}
		}
	}

private:
	static constexpr std::size_t block_size = 4096, max_sets = 4 * block_size;
	static constexpr std::uint32_t none = ~0u;
	using Set = std::vector<std::uint64_t>; // a bit per place

	static std::span<const Run> block_runs(std::span<const Run> runs, std::size_t number)
	{
		return runs.subspan(number * block_size, std::min(block_size, runs.size() - number * block_size));
	}
	bool is_in(std::uint32_t set, Automaton::Place place) const { return sets_[set][place / 64] >> place % 64 & 1; }

	// The number of the set before these runs; numbers[i], if requested, is that before runs[i], with one more at
	// the end.
	std::uint32_t number_before(std::span<const Run> runs, Set after, std::uint32_t *numbers);
	std::uint32_t set_number(Set set);
	std::uint32_t compute_before(std::uint32_t set, std::uint16_t column);

	const Automaton &automaton_;
	std::map<Set, std::uint32_t> known_;
	std::vector<Set> sets_;             // by number
	std::vector<std::uint32_t> before_; // by number and column
};

} // namespace monitor::states
