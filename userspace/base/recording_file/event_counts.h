// SPDX-License-Identifier: MIT
// What record --count counted and record --time timed (`counts`, `times`).
#pragma once

#include "base/event_matcher.h"
#include "fields.h"

namespace monitor::recording_file {

struct EventCount : NamedExpression {
	std::uint64_t count = 0, of_programs = 0; // the latter is part of the former
	std::vector<std::uint64_t> by_cpu;        // by the probes; empty: the kernel's events were not recorded
	bool is_damaged = false;                  // a member is not a number, or `by_cpu` does not add up

	void fields(auto &v)
	{
		v("name", name, "expression", expression);
		v.required("count", count);
		v("by_cpu", by_cpu, "of_programs", of_programs);
	}
};

struct EventTimeOfCpu {
	std::uint64_t number = 0, total = 0;

	void fields(auto &v) { v("number", number, "total", total); }
};

// Durations in ticks of the trace's clock.
struct EventTime : NamedTime {
	std::uint64_t number = 0, total = 0, shortest = 0, longest = 0;
	std::uint64_t starts = 0, replaced = 0, forgotten = 0, ends = 0; // as in edc_timed (monitor/timing.h)
	std::map<unsigned, std::uint64_t> buckets;
	std::vector<EventTimeOfCpu> by_cpu; // where they ended
	bool is_damaged = false;            // a member is not a number, or they are inconsistent

	void fields(auto &v)
	{
		v("name", name, "start", start, "end", end, "start_key", start_key, "end_key", end_key);
		v.required("number", number, "total", total, "shortest", shortest, "longest", longest, "starts", starts,
			   "replaced", replaced, "forgotten", forgotten, "ends", ends);
		v("buckets", buckets, "by_cpu", by_cpu);
	}
};

} // namespace monitor::recording_file
