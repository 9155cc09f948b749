// SPDX-License-Identifier: MIT
// The seventh stage of inference: merges all iterations of a role to one body. What only some of them did becomes a
// branch. Each operation gets its samples, one for each iteration.
#pragma once

#include <vector>

#include "iterations.h"
#include "model.h"

namespace monitor::model {

struct Body {
	Block block;                                     // Operation::column is in `columns`, not in Role::columns
	std::vector<std::vector<std::uint64_t>> columns; // a value for each iteration
};

// `all` is of all recordings. Throws Refused if they have too little in common.
Body make_body(const std::vector<const Iteration *> &all, const Waits &waits, const RolePlan &role);

} // namespace monitor::model
