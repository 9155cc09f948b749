// SPDX-License-Identifier: MIT
// Models that are series-parallel graphs of activities (PEPP), or steps of threads that meet at barriers (SPASS): the
// distribution of their time, without simulation.
//
// Times are independent, every thread has a CPU, and wake-ups take no time.
#pragma once

#include "grid_distribution.h"
#include "replay.h"

namespace monitor::simulation {

// Throws Error if the model is something else, or needs more CPUs than it has.
GridDistribution elapsed_distribution(const model::Model &model, const Change &change);

} // namespace monitor::simulation
