// SPDX-License-Identifier: MIT
// The texts of record --count and --time: what is decided of each event, with a name.
#pragma once

#include <string>
#include <vector>

#include "base/event_matcher.h"

namespace monitor::matcher {

// "NAME=EXPRESSION" of each --count. Throws Error.
std::vector<NamedExpression> parse_counts(const std::vector<std::string> &counts);
// "NAME=START then END [per KEY]" of each --time, or with .. for `then` (reading/filter/pair_text.h); one with `then`
// and without a name is called time1, time2, ... by its place. Throws Error.
std::vector<NamedTime> parse_times(const std::vector<std::string> &times);

} // namespace monitor::matcher
