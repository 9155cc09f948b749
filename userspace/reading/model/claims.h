// SPDX-License-Identifier: MIT
// What must hold in every recording of a model's program: arcs, locks, calls, orders, barriers and capacities of
// queues, derived from the model alone, which may be written by hand; and the CPU times of its activities.
#pragma once

#include <string>
#include <vector>

#include "model.h"
#include "relations.h"

namespace monitor::model {

// Throws Error: there are too many.
std::vector<Relation> claims_of(const Model &model);

// In the order of the text.
std::vector<std::string> activities_of(const Model &model);

// The CPU times of the activity in a sample set, one for each iteration that does it. Empty if it has no samples.
std::vector<double> times_in(const Model &model, const SampleSet &set, const std::string &activity);

} // namespace monitor::model
