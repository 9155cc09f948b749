// SPDX-License-Identifier: MIT
// Parses the named expressions of record --count and --time.
#pragma once

#include <string>
#include <vector>

#include "base/event_matcher.h"

namespace monitor::matcher {

// "NAME=EXPRESSION" of each --count. Throws Error.
std::vector<NamedExpression> parse_counts(const std::vector<std::string> &counts);
// "NAME=START then END [per KEY]" of each --time, or with .. for `then` (reading/filter/pair_text.h); unnamed ones with
// `then` are called time1, time2, ... by position. Throws Error.
std::vector<NamedTime> parse_times(const std::vector<std::string> &times);

} // namespace monitor::matcher
