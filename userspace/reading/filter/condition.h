// SPDX-License-Identifier: MIT
// A condition in FDL about what is not an event but has named values: a row of a table, a measurement.
//
// The parser is that of the filters; who has the values checks the names and says what they are. As in filters, a
// comparison with what is not known is false. Invariant: an unknown value is never taken for 0 or for no text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "expression.h"

namespace monitor::filter {

// `check` is called for each comparison, glob, set and `has`, whose first child is a name; it may refuse() a part of
// it. Throws Refusal of `subject`.
Expression parse_condition(const char *subject, std::string_view untrusted_text,
			   const std::function<void(Expression &)> &check);
[[noreturn]] void refuse(const Expression &part, const std::string &sentence);
// Calls `check` for each constant that the name of a comparison is compared with, the ends of ranges included. Refuses
// what is none of `what`, and a constant of another kind than the name's.
void check_constants(const Expression &comparison, bool is_text, const char *what,
		     const std::function<void(const Expression &)> &check);

// `takes` says it of each comparison, glob, set and `has`.
bool holds(const Expression &condition, const std::function<bool(const Expression &)> &takes);
// Of one of those, with the value of its name.
bool takes_value(const Expression &comparison, const std::optional<std::string> &value);
bool takes_value(const Expression &comparison, const std::optional<double> &value);

} // namespace monitor::filter
