// SPDX-License-Identifier: MIT
// Threads that the BPF task iterator does not list (the kernels of some sandboxes hide a process from BPF completely),
// with what /proc has: name, state, process, CPU; the counts stay unknown.
#pragma once

#include <cstdint>
#include <vector>

#include "monitor/card.h"

namespace monitor::record {

// Threads in /proc that are not in `listed`, at trace time `time`. `filtering`: with -p, where they are not selected.
std::vector<edc_task> tasks_only_in_proc(const std::vector<edc_task> &listed, std::uint64_t time, bool filtering);

// Drops threads created after the first list: the second one has them, or they have ended.
void drop_new_tasks(std::vector<edc_task> &tasks, const std::vector<edc_task> &listed_after);

} // namespace monitor::record
