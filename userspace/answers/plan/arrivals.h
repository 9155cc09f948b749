// SPDX-License-Identifier: MIT
// The load of a recording, as input of a simulation: the work of each CPU until a block is closed, and in which ring.
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
	std::string program;            // that posts into it; "": the kernel
	Nanoseconds begin = 0, end = 0; // of the first block; of the last one

	bool is_kernel() const { return program.empty(); }
};

// A part of a CPU's load. It starts when the step before is done, but not before `release`.
struct Step {
	static constexpr std::uint32_t no_ring = ~std::uint32_t(0);

	Nanoseconds release = 0;
	Nanoseconds work = 0;
	std::uint32_t ring = no_ring; // which closes a block when the work is done
	std::uint32_t words = 0;      // in that block
};

struct Arrivals {
	std::vector<RecordedRing> rings;
	std::vector<std::vector<Step>> steps; // by CPU
	Nanoseconds duration = 0;
	bool has_slots = false;                  // there are slot rings, for preemptible probes
	std::vector<Nanoseconds> program_closes; // when blocks of programs' rings were closed, sorted
	std::vector<Nanoseconds> recorder_time;  // by CPU: how long threads of the recorder ran there
	// From a wake-up of a thread of the recorder until it ran.
	std::vector<Nanoseconds> latencies;

	unsigned rings_of_cpu() const { return has_slots ? EDC_CARD_RINGS : EDC_CARD_LEVELS; }
	std::uint64_t blocks() const;
	std::uint32_t busiest_cpu() const; // with the most steps
	std::uint32_t quietest_cpu() const;
	// Share of the recorder's CPU time that was on the busiest CPU; 1/2: unknown.
	double recorder_beside_load() const;
};

// Throws Unanswerable (unanswerable.h), or Error if the trace is not a recording of this program with its switches.
Arrivals read_arrivals(trace::Trace &trace, const analyze::RecordingInfo &info);

// With `rate` times the events in the same time.
Arrivals with_rate(const Arrivals &arrivals, double rate);

} // namespace monitor::plan
