// SPDX-License-Identifier: MIT
// Rules for the operations of a role that are not part of the grammar, such as that only pools reply.
#pragma once

#include <string>

#include "model.h"

namespace monitor::model {

// What the role violates first, as a sentence with the remedy; "" if nothing.
std::string broken_rule(const Model &model, std::size_t role);

} // namespace monitor::model
