// SPDX-License-Identifier: MIT
// Stacks as a profile.proto of pprof, compressed by gzip. Called by `monitor convert`.
#pragma once

#include "output.h"
#include "profile.h"

namespace monitor::exporting {

// Throws Error.
void write_pprof(const Profile &profile, const ProfileOrigin &origin, Output &output);

} // namespace monitor::exporting
