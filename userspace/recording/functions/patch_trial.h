// SPDX-License-Identifier: MIT
// Measures the cost of an event of a patched function on this machine. Call it before the command starts.
#pragma once

#include "recording/card/rounds.h"
#include "recording/recorder/user.h"

namespace monitor::functions {

// In ns, measured in an unprivileged child process of this user: the preloaded library patches a function of this
// program, which posts into rings without a reader. No rounds: not measured. Call before other threads exist.
card::CalibratedCost time_patched_event(const record::User &user);

} // namespace monitor::functions
