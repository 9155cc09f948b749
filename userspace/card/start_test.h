// SPDX-License-Identifier: MIT
// What only a trial on the running machine can say, before a recording starts: whether tracepoints are preempted here.
// Then a probe is refused to every other task of its CPU, and the classes that may be preempted attach as classic
// tracepoints. Called by record/recording.cpp; leaves the card detached and reset.
#pragma once

#include "bpf_card.h"

namespace monitor::card {

struct StartTest {
	bool classic = false;      // attach type of the classes that may be preempted
	std::uint64_t calls = 0;   // system calls made by several tasks of one CPU
	std::uint64_t missing = 0; // of these, not seen by the probes under the chosen attach type
};

StartTest start_test(BpfCard &card);

} // namespace monitor::card
