// SPDX-License-Identifier: MIT
// A rule compiled for one trace: the roles of events in it, and what is required of them.
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

#include "reading/activities/keys.h"
#include "reading/filter/filter.h"
#include "relation.h"
#include "rule_file.h"

namespace monitor::rules {

enum class Form : std::uint8_t {
	never,    // never: no such event may occur
	holds,    // for: an event, holds: a condition that it must satisfy
	sequence, // for: an event and the next one of its key: follows, within
	after,    // for: an event that is allowed only after: another one
	pairs,    // when: an event occurs, then: another one must follow
	absence,  // when: an event occurs, never: another one may follow until: a third one
};

// The roles of events in a rule: `first` is the earlier one.
enum Role : std::uint8_t {
	first,  // when, after; in forms with one event: never, for
	second, // then; never (with when); for (with after); holds
	third,  // not between, until
	forget,
	roles,
	begin = roles, // in all forms: the rule ignores everything before it
	among,         // in all forms: adds to the rule's set
	leaves,        // in all forms: removes from the set, after being judged itself
	patterns
};

struct Rule {
	static constexpr std::uint64_t any_time = std::numeric_limits<std::uint64_t>::max();
	static constexpr std::size_t max_nesting = 64;

	std::string name, where;
	Form form = Form::never;
	std::array<std::unique_ptr<const filter::Filter>, patterns> pattern; // nullptr: no event has this role
	std::array<activities::Keys, roles> key;
	std::array<std::string, patterns> keywords; // the keyword of the pattern in the file
	std::vector<Relation> relations;
	// An event with a member outside of the set is not judged; without names there is no set.
	std::vector<Name> members, added, removed;
	bool key_is_member = false; // the only name of the first condition's key is one of `members`
	std::vector<filter::Integer> always_in_set;
	std::uint64_t within_ns = any_time;
	std::size_t at_most = max_nesting;
	bool keeps_each = false; // pairs: each end has its own start, the last one first
	bool has_at_most = false;
	bool only_then = false; // pairs: an end without a start is a violation
	bool open_at_end = true, open_at_loss = true;
	bool knows_begin = false;       // the trace has everything from its start on
	std::vector<std::string> needs; // events required for the rule
	std::string reason;             // why it is not checked; "": it is
};

// Throws Error naming file and line. If the trace's description lacks an event, this sets `reason` instead.
Rule compile(const RuleText &text, const trace::Description &description, std::uint64_t begin_time);

} // namespace monitor::rules
