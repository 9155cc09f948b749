// SPDX-License-Identifier: MIT
// The distribution of the elapsed time, computed without simulation, of models that are series-parallel graphs of
// activities (as in PEPP), or threads that meet at barriers after each step (as in SPASS).
//
// Assumes that all durations are independent, every thread has a CPU, and wake-ups take no time.
#pragma once

#include "grid_distribution.h"
#include "replay.h"

namespace monitor::simulation {

// Throws Error if the model has other operations, or its threads need more CPUs than there are.
GridDistribution elapsed_distribution(const model::Model &model, const Change &change);

} // namespace monitor::simulation
