// SPDX-License-Identifier: MIT
// What a mistyped name may have meant. Called for the sentence of an error only.
#pragma once

#include <string>
#include <vector>

namespace monitor {

// At most three of `known` that resemble `name`: " Near: a, b." or "".
std::string nearest(const std::string &name, const std::vector<std::string> &known);

} // namespace monitor
