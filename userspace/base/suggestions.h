// SPDX-License-Identifier: MIT
// Suggests what a mistyped name may have meant. Called only to word an error message.
#pragma once

#include <string>
#include <vector>

namespace monitor {

// At most three of `known` that resemble `name`: " Did you mean a, b?" or "".
std::string suggestions(const std::string &name, const std::vector<std::string> &known);

} // namespace monitor
