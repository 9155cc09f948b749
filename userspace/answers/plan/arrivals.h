// SPDX-License-Identifier: MIT
// What the rings of a recording got: the work of each CPU from one block to the next, and which ring closed it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "monitor/card.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "reading/simulation/machine.h"

namespace monitor::plan {

using simulation::Nanoseconds;

struct RecordedRing {
	std::uint32_t cpu = 0, level = 0;
	std::string program;            // of whose rings it is one; "": the kernel's
	Nanoseconds begin = 0, end = 0; // of its first block, of its last one

	bool is_kernel() const { return program.empty(); }
};

// A part of the load of a CPU: work that begins when the one before is done, and not before `release`.
struct Step {
	static constexpr std::uint32_t no_ring = ~std::uint32_t(0);

	Nanoseconds release = 0;
	Nanoseconds work = 0;
	std::uint32_t ring = no_ring; // of which a block is closed at its end
	std::uint32_t words = 0;      // in that block
};

struct Arrivals {
	std::vector<RecordedRing> rings;
	std::vector<std::vector<Step>> steps; // by CPU
	Nanoseconds duration = 0;
	bool has_slots = false;                  // the kernel's rings are those of preemptible probes, too
	std::vector<Nanoseconds> program_closes; // when each block of a program's ring was closed, in order
	std::vector<Nanoseconds> recorder_time;  // by CPU: how long threads of the recorder ran there
	// From a wake-up of a thread of the recorder until it ran.
	std::vector<Nanoseconds> latencies;

	unsigned rings_of_cpu() const { return has_slots ? EDC_CARD_RINGS : EDC_CARD_LEVELS; }
	std::uint64_t blocks() const;
	std::uint32_t busiest_cpu() const; // of which most blocks are
	std::uint32_t quietest_cpu() const;
	// The part of the recorder's time that it ran on the busiest CPU; 1/2 if nothing is known of it.
	double recorder_beside_load() const;
};

// Throws Unanswerable (unanswerable.h), or Error if the trace is not a recording of this program with its switches.
Arrivals read_arrivals(trace::Trace &trace, const analyze::RecordingInfo &info);

// With `rate` times the events in the same time.
Arrivals with_rate(const Arrivals &arrivals, double rate);

} // namespace monitor::plan
