// SPDX-License-Identifier: MIT
// An FDL condition over named values that are not an event's: a row of a table, a measurement.
// The parser is that of the filters; the caller checks names and supplies values. As in filters, a comparison with an
// unknown value is false. Invariant: an unknown value is never treated as 0 or "".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "expression.h"

namespace monitor::filter {

// `check` is called for each comparison, glob, set and `has`, whose first child is a name; it may refuse() a part of
// it. Throws ParseError naming `subject`.
Expression parse_condition(const char *subject, std::string_view untrusted_text,
			   const std::function<void(Expression &)> &check);
[[noreturn]] void refuse(const Expression &part, const std::string &sentence);
// Calls `check` for each constant that the comparison has, ends of ranges included. Refuses values that are not
// constants, asking for `what`, and a constant of another kind than the name's.
void check_constants(const Expression &comparison, bool is_text, const char *what,
		     const std::function<void(const Expression &)> &check);

// `accepts` decides each comparison, glob, set and `has`.
bool holds(const Expression &condition, const std::function<bool(const Expression &)> &accepts);
// Whether one of those accepts its name's value.
bool takes_value(const Expression &comparison, const std::optional<std::string> &value);
bool takes_value(const Expression &comparison, const std::optional<double> &value);

} // namespace monitor::filter
