// SPDX-License-Identifier: MIT
// Compares a field of an event with a field of an earlier one: `prev_pid = next_pid`, `seq = seq + 1`, `irq`.
// Part of a rule (rule.h): `follows:` and `same:`. The left side is of the later event, the right side of the earlier,
// of which only the values are kept. Const once made. Invariant: comparisons with a missing value have no result:
// holds() is empty.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reading/activities/keys.h"
#include "rule_file.h"

namespace monitor::rules {

using Value = activities::Cell;

// The value of one name in the events of each class: a name of FDL, or `activity`.
class Name {
public:
	// Throws Error naming `where` if no class has it.
	Name(const std::string &name, const trace::Description &description, const std::string &where);
	Value value(const trace::Event &event, const filter::Running &running) const;

private:
	activities::Keys keys_; // of one name
	// `activity`: the event's name without _begin or _end; other events have none
	std::vector<std::string> activities_;
};

class Relation {
public:
	// "LATER = EARLIER", also with != < <= > >= and EARLIER + N, or one name that both have. Throws Error.
	Relation(const std::string &text, const trace::Description &description, const std::string &where);

	Value earlier(const trace::Event &event, const filter::Running &running) const
	{
		return earlier_->value(event, running);
	}
	// Empty if one side has no such value.
	std::optional<bool> holds(const trace::Event &later, const filter::Running &running,
				  const Value &earlier) const;
	// The message for a violation: "seq = seq + 1 does not hold: seq is 7, seq was 4".
	std::string violation_text(const trace::Event &later, const filter::Running &running,
				   const Value &earlier) const;

private:
	std::string text_, later_name_, earlier_name_;
	std::optional<Name> later_, earlier_;
	filter::Relation relation_ = filter::Relation::equal;
	filter::Integer offset_ = 0;
};

// The comma-separated relations; empty without the keyword.
std::vector<Relation> relations(const Word *word, const trace::Description &description);

} // namespace monitor::rules
