// SPDX-License-Identifier: MIT
// Start and end of a recording, the skew of the CPUs' clocks, and CPUs that came online later (`start`, `end`,
// `tsc_skew`, `late_cpus`).
#pragma once

#include "fields.h"

namespace monitor::recording_file {

struct Moment {
	std::optional<std::uint64_t> time; // of the trace
	std::optional<std::uint64_t> realtime_ns, monotonic_ns;

	void fields(auto &v) { v("time", time, "realtime_ns", realtime_ns, "monotonic_ns", monotonic_ns); }
};

struct TscSkew {
	std::uint64_t ticks = 0;         // the largest offset
	std::uint64_t uncertainty = 0;   // half of the shortest round trip of that pair
	std::uint64_t cpus_compared = 0; // with the first one
	std::uint64_t cpus_online = 0;   // of the machine

	void fields(auto &v)
	{
		v("ticks", ticks, "uncertainty", uncertainty, "cpus_compared", cpus_compared, "cpus_online",
		  cpus_online);
	}
};

// A CPU that came online during the recording.
struct LateCpu {
	unsigned cpu = 0;
	std::vector<std::string> opened; // names of the per-CPU events that could be opened there

	void fields(auto &v) { v("cpu", cpu, "opened", opened); }
};

} // namespace monitor::recording_file
