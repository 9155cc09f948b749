// SPDX-License-Identifier: MIT
// The kernel's own counts, as oracles for the tokens: /proc/stat (context switches, interrupts, softirqs, thread
// creations, steal), the lines of /proc/interrupts that no probe sees, and cpuidle's counts of idle states. Read by
// Recording at start and end between two reads of the clock, so that `monitor check` can tell which tokens they cover.
// See proc(5), and the kernel's admin-guide/pm/cpuidle.
#pragma once

#include "base/recording_file/counts.h"

namespace monitor::record {

using recording_file::KernelCounts;

KernelCounts read_kernel_counts(bool invariant_tsc);

} // namespace monitor::record
