// SPDX-License-Identifier: MIT
// A rule compiled for one trace: which events have which part in it, and what is demanded of them.
//
// Made by compile() from a RuleText (rule_file.h), run by a Judge (judge.h). Const once made.
// Invariant: a rule without `reason` has all patterns and keys that its form needs.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "filter/filter.h"
#include "relation.h"
#include "rule_file.h"
#include "statistics/keys.h"

namespace monitor::rules {

enum class Form : std::uint8_t {
	never,    // no such event
	holds,    // for: such an event, holds: a condition
	sequence, // for: one event and the next one of its key: follows, within
	after,    // for: such an event only after: another one
	pairs,    // when: such an event, then: another one
	absence,  // when: such an event, never: another one, until: a third one
};

// What an event can be to a rule: `first` is the earlier one.
enum Role : std::uint8_t {
	first,  // when, after; of the forms with one event: never, for
	second, // then, never behind when, for behind after; holds
	third,  // not between, until
	forget,
	roles,
	begin = roles, // of all forms: nothing before it is looked at
	among,         // of all forms: adds to the set of those that the rule is about
	leaves,        // of all forms: takes from it, once it is judged itself
	patterns
};

struct Rule {
	static constexpr std::uint64_t any_time = std::numeric_limits<std::uint64_t>::max();
	static constexpr std::size_t most_nested = 64;

	std::string name, where;
	Form form = Form::never;
	std::array<std::unique_ptr<const filter::Filter>, patterns> pattern; // nullptr: no event has this role
	std::array<statistics::Keys, roles> key;
	std::array<std::string, patterns> words; // what the pattern is called in the file
	std::vector<Relation> relations;
	// An event with a member that is not in the set is not judged; no names: there is no set.
	std::vector<Name> members, added, removed;
	std::vector<filter::Integer> always; // in the set
	std::uint64_t within_ns = any_time;
	std::size_t at_most = most_nested;
	bool keeps_each = false; // pairs: a start for each end, the last one first
	bool has_at_most = false;
	bool only_then = false; // pairs: an end without a start is a violation
	bool open_at_end = true, open_at_loss = true;
	bool knows_begin = false;       // nothing was before the trace's begin
	std::vector<std::string> needs; // events without which it cannot be judged
	std::string reason;             // why it is not checked; empty: it is
};

// Throws Error naming file and line. An event that the trace's description does not have is a reason, no error.
Rule compile(const RuleText &text, const trace::Description &description, std::uint64_t begin_time);

} // namespace monitor::rules
