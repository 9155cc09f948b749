// SPDX-License-Identifier: MIT
// Threads that the BPF task iterator does not list (the kernels of some sandboxes hide a process from BPF completely),
// with what /proc has: name, state, process, CPU; the counts stay unknown.
#pragma once

#include <cstdint>
#include <vector>

#include "monitor/card.h"

namespace monitor::record {

// The threads of /proc that are not in `listed`, at trace time `time`. `filtering`: -p did not select them.
std::vector<edc_task> tasks_only_in_proc(const std::vector<edc_task> &listed, std::uint64_t time, bool filtering);

// Leaves out those that began after the first list was made: the second one has them, or they have ended.
void drop_new_tasks(std::vector<edc_task> &tasks, const std::vector<edc_task> &listed_after);

} // namespace monitor::record
