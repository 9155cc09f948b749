// SPDX-License-Identifier: MIT
// The seventh stage of inference: one body of a role that does what all of its iterations did, and a sample of each of
// its operations for each iteration. What only some did is in a branch.
#pragma once

#include <vector>

#include "iterations.h"
#include "model.h"

namespace monitor::model {

struct Body {
	Block block;                                     // Operation::column: in columns
	std::vector<std::vector<std::uint64_t>> columns; // a value for each iteration
};

// `all`: of all recordings. Throws Refused: they have too little in common.
Body make_body(const std::vector<const Iteration *> &all, const Waits &waits, const RolePlan &role);

} // namespace monitor::model
