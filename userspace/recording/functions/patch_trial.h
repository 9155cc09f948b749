// SPDX-License-Identifier: MIT
// What an event of a patched function costs on this machine. Called by Recording before the command starts, and by
// `monitor events --functions`.
#pragma once

#include "recording/card/rounds.h"
#include "recording/recorder/user.h"

namespace monitor::functions {

// ns, measured in a process of its own, where the preloaded library patches a function of this program and posts into
// rings that nobody reads, and that has no privileges but is this user's. No rounds: it could not be measured. Before
// other threads exist.
card::CalibratedCost time_patched_event(const record::User &user);

} // namespace monitor::functions
