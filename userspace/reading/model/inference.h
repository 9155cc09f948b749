// SPDX-License-Identifier: MIT
// Learns a model from recordings of a program. The stages are steps.h, instances.h, relations.h, structure.h, waits.h,
// iterations.h and body.h.
#pragma once

#include <string>
#include <vector>

#include "model.h"
#include "structure.h"

namespace monitor::model {

// The first two stages. `comms` as for collect_steps(). Throws Error, Refused.
Recording read_recording(const std::string &directory, const std::vector<std::string> &comms);

// The other stages. All recordings must have the same structure; each becomes a sample set. Throws Refused.
Model infer_model(std::vector<Recording> recordings);

} // namespace monitor::model
