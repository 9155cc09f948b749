// SPDX-License-Identifier: MIT
// Suggests known names for a mistyped one, for error messages.
#pragma once

#include <string>
#include <vector>

namespace monitor {

// At most three of `known` that resemble `name`: " Did you mean a, b?" or "".
std::string suggestions(const std::string &name, const std::vector<std::string> &known);

} // namespace monitor
