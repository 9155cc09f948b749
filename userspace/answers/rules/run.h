// SPDX-License-Identifier: MIT
// Checks all rules against a trace in one pass, and reports the results.
// Only if there are violations is the trace read again, as far as needed, to format their events as `monitor list`
// does. One thread. Invariant: a rule that applied to nothing counts as not checked; it does not hold.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "judge.h"
#include "reading/events/trace.h"
#include "rule_file.h"

namespace monitor::rules {

struct Options {
	std::size_t violations = 5; // shown per rule
	bool json = false;          // their events as JSON
};

struct Shown {
	std::string what;
	std::vector<std::string> events; // without line feeds
};

struct Outcome {
	enum class Verdict { holds, fails, not_checked } verdict = Verdict::not_checked;
	std::string name;
	std::string text; // message; starts with the name
	Tally tally;
	std::vector<Shown> shown;
};

// In the order of the rules. Throws Error if a rule does not fit the trace.
std::vector<Outcome> run(trace::Trace &trace, const std::vector<RuleText> &texts, const Options &options);

} // namespace monitor::rules
