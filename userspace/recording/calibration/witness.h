// SPDX-License-Identifier: MIT
// A witness for the probes that uses none of their own figures: system calls made here on each CPU, each between two
// direct reads of the TSC. The probes must have seen exactly these calls, and their tokens must lie between the reads.
// Called by Recording before a recording and after its trace is complete, so nothing of it is in
// the trace; written to recording.json and judged by answers/check/witness.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "recording/card/bpf_card.h"

namespace monitor::card {

struct CallWitness {
	unsigned cpu = 0;
	std::uint64_t calls = 0;              // made
	std::uint64_t entries = 0, exits = 0; // that the probes saw on that CPU during the calls
	bool alone = false;                   // no other thread ran there during the calls: then all three are equal
	std::uint64_t brackets = 0;           // calls whose tokens were found in the ring
	std::uint64_t width_ticks = 0;        // the narrowest bracket: from the read before a call to the one after it
	std::uint64_t outside_ticks = 0;      // the furthest that a token is outside its bracket
	std::uint64_t allowed_ticks = 0;      // how far the probes' clock was off the TSC there, as read here
};

// For each CPU that this process may use; none if system calls are not probed, or cannot be. Only while nothing is
// attached and the rings are unused; leaves the card detached and reset.
std::vector<CallWitness> witness_calls(BpfCard &card, bool tp, bool filtering);

} // namespace monitor::card
