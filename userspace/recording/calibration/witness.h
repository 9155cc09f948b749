// SPDX-License-Identifier: MIT
// An independent check of the probes: makes system calls on each CPU, each between two reads of the TSC. The probes
// must see exactly these calls, with times between the reads. Runs before a recording and after its trace is complete,
// so its events are not in the trace. The result is in recording.json and judged by answers/check/witness.cpp.
#pragma once

#include <vector>

#include "base/recording_file/counts.h"
#include "recording/card/bpf_card.h"

namespace monitor::card {

using recording_file::CallWitness;

// One result per CPU that this process may use; empty if system calls are not probed. Only while nothing is attached
// and the rings are unused; leaves the card detached and reset.
std::vector<CallWitness> witness_calls(BpfCard &card, bool tp, bool filtering);

} // namespace monitor::card
