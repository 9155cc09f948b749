// SPDX-License-Identifier: MIT
// What a model claims of each recording of its program: arcs, locks, calls, orders, barriers and bounds of queues, from
// the model alone, which a person may have written; and how long its activities take.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model.h"
#include "relations.h"

namespace monitor::model {

// Throws Error: there are too many.
std::vector<Relation> claims_of(const Model &model);

// In the order in which the roles do them.
std::vector<std::string> activities_of(const Model &model);

// The CPU times in the activity of one sample set, a value per iteration that did it. Empty: a person gave durations.
std::vector<double> times_in(const Model &model, const SampleSet &set, const std::string &activity);

} // namespace monitor::model
