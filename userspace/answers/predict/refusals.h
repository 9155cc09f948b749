// SPDX-License-Identifier: MIT
// Refuses changes whose effect the recordings do not show.
#pragma once

#include <vector>

#include "reading/model/model.h"
#include "reading/simulation/replay.h"

namespace monitor::predict {

// Throws model::Refused with the reason, if there is one. `as_recorded`: replays of all recordings, without a change.
void refuse_unknown(const model::Model &model, const std::vector<simulation::Change> &changes,
		    const std::vector<simulation::Replayed> &as_recorded);

} // namespace monitor::predict
