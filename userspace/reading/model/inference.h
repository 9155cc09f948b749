// SPDX-License-Identifier: MIT
// Learns a model from recordings of a program: the stages are steps.h, instances.h, relations.h, structure.h, waits.h,
// iterations.h and body.h.
#pragma once

#include <string>
#include <vector>

#include "model.h"
#include "structure.h"

namespace monitor::model {

// Reads a recording once. `comms`: as of collect_steps(). Throws Error, Refused.
Recording read_recording(const std::string &directory, const std::vector<std::string> &comms);

// Of several recordings, which must have one structure, each has a sample set. Throws Refused.
Model infer_model(std::vector<Recording> recordings);

} // namespace monitor::model
