// SPDX-License-Identifier: MIT
// Parses the formula of a measurement into terms and what they are divided by. Called for the lines of groups
// (groups.cpp) and for `-m NAME=FORMULA` (selection.cpp). Names of events are not checked; events.cpp resolves them.
//     formula: sum [ / sum | / time | / seconds | / count ] [unit]      sum: term { + term }, in parentheses if it is
//     term: [ number * ] event | [ number * ] busy(event)               more than one term and there is a division
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/parse_error.h"
#include "selection.h"

namespace monitor::pmu {

struct FormulaTerm {
	double factor = 1;
	std::string event;
	bool busy = false;     // cycles in which it occurs, instead of occurrences
	TextPosition position; // of the event
};

struct Formula {
	std::vector<FormulaTerm> numerator, denominator;
	Per per = Per::nothing;
	std::string text; // as written, without the unit
	std::string unit; // as written; "" if not given
};

// Whether a word is an event by itself. `a/b/` is b of the PMU a if a is not an event.
using IsEvent = std::function<bool(const std::string &)>;

// Throws ParseError.
Formula parse_formula(const std::string &text, const IsEvent &is_event);

// Whether `text` ends within a PMU's terms, so that a comma after it does not end the formula: "x=cpu/event=0xc0".
bool ends_within_terms(const std::string &text);

} // namespace monitor::pmu
