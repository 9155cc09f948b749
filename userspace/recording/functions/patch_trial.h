// SPDX-License-Identifier: MIT
// What an event of a patched function costs on this machine. Called by Recording before the command starts, and by
// `monitor events --functions`.
#pragma once

#include <functional>

#include "recording/card/rounds.h"

namespace monitor::functions {

// ns, measured in a process of its own, where the preloaded library patches a function of this program and posts into
// rings that nobody reads. `drop` is called there: it drops all privileges. No rounds: it could not be measured. Before
// other threads exist.
card::Estimate time_patched_event(const std::function<void()> &drop);

} // namespace monitor::functions
