// SPDX-License-Identifier: MIT
// What the operations of a role must fulfil, beyond grammar, for a replay to mean something.
#pragma once

#include <string>

#include "model.h"

namespace monitor::model {

// The first rule that the role breaks, as a sentence with the remedy; "": none.
std::string broken_rule(const Model &model, std::size_t role);

} // namespace monitor::model
