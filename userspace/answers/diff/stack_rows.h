// SPDX-License-Identifier: MIT
// Rows of recorded stacks: CPU time by function and by whole stack, from samples; and time asleep by whole stack.
// Called by measure.cpp after the fold.
//
// Stacks are matched by the names of their functions, never by addresses.
#pragma once

#include "answers/report/named_stacks.h"
#include "call_times.h"
#include "rows.h"

namespace monitor::diff {

// A sample stands for the time from one to the next, of `hz` a second.
void add_samples(Rows &rows, report::NamedStacks &stacks, const trace::Clock &clock, Ours ours, unsigned hz);
// Without the command's sleep until the recorder let it go.
void add_sleeps(Rows &rows, report::NamedStacks &stacks, const trace::Clock &clock, Ours ours, const CallTimes &times);

} // namespace monitor::diff
