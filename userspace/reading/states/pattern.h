// SPDX-License-Identifier: MIT
// A regular expression over states: "idle (call+ wait)*", "5 1+ 9". Documentation/states.md has the grammar.
//
// Text -> parse_pattern() -> Pattern -> Automaton (automaton.h) -> Matcher (matcher.h). Names and numbers are looked up
// here. Invariant: the tree is at most max_depth high, and repetitions are at most max_repetitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tree.h"

namespace monitor::states {

struct Pattern {
	static constexpr std::size_t max_bytes = 4096, max_depth = 100;
	static constexpr std::uint32_t max_repetitions = 1000, unlimited = ~0u;

	enum class Kind : std::uint8_t {
		states,   // one run, in one of these states
		sequence, // of its children, in this order; without children: empty
		alternatives,
		repetition, // of its only child, which is not empty, min to max times
	} kind = Kind::sequence;

	std::vector<bool> states; // by number
	std::uint32_t min = 1, max = 1;
	std::vector<Pattern> children;

	bool is_nothing() const { return kind == Kind::sequence && children.empty(); }
};

// Throws ParseError.
Pattern parse_pattern(std::string_view untrusted_text, const Tree &tree);

} // namespace monitor::states
