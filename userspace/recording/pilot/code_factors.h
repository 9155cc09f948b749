// SPDX-License-Identifier: MIT
// Measures the overhead of probes in real code on this machine (monitor doctor --calibrate): programs of different
// kinds (builtin_workloads.h) run alternately without and with probes; their overhead is compared with the prediction
// from loops.
#pragma once

#include <functional>

#include "recording/calibration/kept_factors.h"

namespace monitor::pilot {

struct FactorOptions {
	double seconds = 60;
	std::function<void(double)> on_progress{}; // the share of the work that is done
};

// Throws Error.
card::KeptFactors measure_factors(const FactorOptions &options);

} // namespace monitor::pilot
