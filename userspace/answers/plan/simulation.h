// SPDX-License-Identifier: MIT
// Simulates the recorder's rings, drain thread, pool, writer and disk, block by block, with other buffers, another disk
// or the recorder on one CPU: a model of resource occupancy (ROCC; Waheed and Rover), in which the recorded load needs
// the CPUs, too. The decisions are those of the recorder: base/buffering.
#pragma once

#include <cstdint>
#include <optional>

#include "arrivals.h"
#include "service_times.h"

namespace monitor::plan {

struct Setting {
	std::optional<std::uint64_t> buffer_bytes;   // of record --buffer; empty: the default
	std::optional<double> disk_bytes_per_second; // empty: as it was
	std::optional<std::uint32_t> cpu;            // on which the recorder runs; empty: any
};

// What differs between recordings of one load with one setting.
struct Circumstances {
	bool beside_load = false; // the recorder's threads are woken on the busiest CPU, even if another one is idle
	double pace = 1;          // a factor on service times,
	double load_pace = 1;     // and one on the work of the load
	std::uint32_t seed = 1;
};

struct Outcome {
	double posted = 0, stored = 0, lost = 0; // words
	Nanoseconds drain_cpu = 0, writer_cpu = 0;
	Nanoseconds load_cpu = 0; // with its probes
	unsigned fullest = 0;     // thousandths of a ring, as a drain pass finds it
	std::uint64_t passes = 0, writes = 0;
	Nanoseconds end = 0;

	double lost_percent() const { return posted > 0 ? 100 * lost / posted : 0; }
};

// Throws Error if the buffer is too small.
Outcome simulate(const Arrivals &arrivals, const ServiceTimes &times, const Setting &setting,
		 const Circumstances &circumstances);

} // namespace monitor::plan
