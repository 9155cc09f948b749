// SPDX-License-Identifier: MIT
// Rows of recorded stacks: CPU time by function and by whole stack, from samples; and time asleep by whole stack.
// Stacks are matched by the names of their functions, never by addresses.
#pragma once

#include "answers/report/named_stacks.h"
#include "call_times.h"
#include "rows.h"

namespace monitor::diff {

// A sample counts as the interval between samples, at `hz` per second.
void add_samples(Rows &rows, report::NamedStacks &stacks, const trace::Clock &clock, Ours ours, unsigned hz);
// Without the command's sleep until the recorder let it start.
void add_sleeps(Rows &rows, report::NamedStacks &stacks, const trace::Clock &clock, Ours ours, const CallTimes &times);

} // namespace monitor::diff
