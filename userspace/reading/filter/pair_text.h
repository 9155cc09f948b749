// SPDX-License-Identifier: MIT
// Parses pairs of events with a common key: the language of triggers, record --time, stat --pair, and rules.
// name == "sched_waking" then name == "sched_switch" within 10 ms per pid = next_pid
// Documentation/pairs.md has the grammar. Each user converts a PairText to its own form, and refuses what it does not
// support. The conditions are FDL, which is parsed where it is compiled.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monitor::filter {

struct PairText {
	enum class Kind : std::uint8_t {
		event,   // start
		then,    // start then end
		missing, // start not followed by end
		times,   // a number of starts
	};

	Kind kind = Kind::event;
	std::string start, end;                      // conditions
	std::vector<std::string> start_key, end_key; // names of the common key, the same number on each side
	std::uint64_t within_ns = 0;                 // 0: no limit
	unsigned times = 0;

	// The key's names for users that compare one number, "" if there are none. Throws Error naming `subject` if
	// there are more.
	std::pair<std::string, std::string> one_key(const std::string &subject) const;
};

// Throws ParseError naming `subject` and the place in the text.
PairText parse_pair(std::string_view untrusted_text, const std::string &subject);
// Whether the text is of two events.
bool has_pair(std::string_view untrusted_text);

// Whether the text has one condition and then a word similar to `then`; parse_pair() refuses it there.
bool misspells_then(std::string_view untrusted_text);
// Suggests a key for a mistaken one: " Did you mean thread?", or "".
std::string key_hint(const std::vector<std::string> &names);

// "a, b" as names; throws Error naming `option` if one is empty.
std::vector<std::string> split_names(const std::string &text, const char *option);
// Splits "a, b = c, d" into the names of each side, the same number on all. Throws Error naming `option`.
std::vector<std::vector<std::string>> split_key(const std::string &text, const std::string &option,
						std::size_t max_sides = 2);

} // namespace monitor::filter
