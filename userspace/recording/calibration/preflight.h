// SPDX-License-Identifier: MIT
// Before a recording starts: whether probes at tracepoints can be preempted here, and whether they see all calls of a
// trial. The kernel does not run a preempted probe for any other task of its CPU: if they can be preempted, or calls
// are missing, the classes concerned attach as tp_* programs. Called by Recording; leaves the card detached and reset.
#pragma once

#include "recording/card/bpf_card.h"

namespace monitor::card {

struct Preflight {
	bool tp = false;           // classes that may be preempted attach as tp, not as tp_btf
	std::uint64_t calls = 0;   // system calls made by several tasks of one CPU
	std::uint64_t missing = 0; // of these, not seen by the probes with the chosen attach type
};

Preflight preflight(BpfCard &card);

} // namespace monitor::card
