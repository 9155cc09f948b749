// SPDX-License-Identifier: MIT
// What a recording cannot say about a changed program.
#pragma once

#include <vector>

#include "reading/model/model.h"
#include "reading/simulation/replay.h"

namespace monitor::predict {

// Throws model::Refused with the reason, if there is one.
void refuse_unknown(const model::Model &model, const std::vector<simulation::Change> &changes);

} // namespace monitor::predict
