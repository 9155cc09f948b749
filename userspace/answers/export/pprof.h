// SPDX-License-Identifier: MIT
// Stacks as a profile.proto of pprof, compressed by gzip.
#pragma once

#include "answers/report/profile.h"
#include "output.h"
#include "speedscope.h"

namespace monitor::exporting {

// Throws Error.
void write_pprof(const report::Profile &profile, const ProfileOrigin &origin, Output &output);

} // namespace monitor::exporting
