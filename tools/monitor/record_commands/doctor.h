// SPDX-License-Identifier: MIT
// The part of `monitor doctor` that monitor_core has, too.
#pragma once

#include "commands.h"

namespace monitor {

// Prints what this machine can do. Returns the exit code.
int run_doctor(bool json);

} // namespace monitor
