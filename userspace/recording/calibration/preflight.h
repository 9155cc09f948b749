// SPDX-License-Identifier: MIT
// Before a recording: whether probes at tracepoints can be preempted on this kernel, and whether they see all system
// calls of a trial. While a BPF program is preempted, the kernel skips it for other tasks on that CPU: if that is
// possible, or calls are missing, the classes concerned attach as tp_* programs. Leaves the card detached and reset.
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
