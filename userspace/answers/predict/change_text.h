// SPDX-License-Identifier: MIT
// Changes, from the command line and as text.
#pragma once

#include <string>
#include <vector>

#include "reading/simulation/replay.h"

namespace monitor::predict {

struct ChangeOptions {
	std::vector<std::string> faster;  // "ACTIVITY=K"
	std::vector<std::string> threads; // "ROLE=N"
	std::uint32_t cpus = 0;           // 0: as in the model
	std::string sweep;                // "ROLE=FROM..TO"; "": none
};

// One change, or with a sweep one for each number of threads; none if nothing is wanted. Throws Error if something is
// not in the model, or is not a number.
std::vector<simulation::Change> changes_of(const ChangeOptions &wanted, const model::Model &model);

// "1 CPU, workers 4 threads, squeeze 2x"
std::string text_of(const simulation::Change &change);

} // namespace monitor::predict
