// SPDX-License-Identifier: MIT
// Threads that the BPF task iterator does not list (the kernels of some sandboxes hide a process from BPF completely),
// with what /proc has: name, state, process, CPU; the counts stay unknown. Called by Recording at start and end.
#pragma once

#include <cstdint>
#include <vector>

#include "monitor/card.h"

namespace monitor::record {

// The threads of /proc that are not in `listed`, at trace time `time`. `filtering`: -p did not select them.
std::vector<edc_task> tasks_only_in_proc(const std::vector<edc_task> &listed, std::uint64_t time, bool filtering);

} // namespace monitor::record
