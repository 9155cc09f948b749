// SPDX-License-Identifier: MIT
// What code outside of loops pays for the probes on this machine (monitor doctor --calibrate): programs of different
// kinds (real_code.h), each run alternately without and with probes, beside what the loops say of their events.
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
