// SPDX-License-Identifier: MIT
// A witness for the probes that uses none of their own figures: system calls made here on each CPU, each between two
// direct reads of the TSC. The probes must have seen exactly these calls, and their tokens must lie between the reads.
// Called by Recording before a recording and after its trace is complete, so nothing of it is in
// the trace; written to recording.json and judged by answers/check/witness.cpp.
#pragma once

#include <vector>

#include "base/recording_file/counts.h"
#include "recording/card/bpf_card.h"

namespace monitor::card {

using recording_file::CallWitness;

// For each CPU that this process may use; none if system calls are not probed, or cannot be. Only while nothing is
// attached and the rings are unused; leaves the card detached and reset.
std::vector<CallWitness> witness_calls(BpfCard &card, bool tp, bool filtering);

} // namespace monitor::card
