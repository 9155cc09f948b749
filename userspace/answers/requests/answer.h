// SPDX-License-Identifier: MIT
// Which host made requests slow: the complete answer of `monitor report RUN requests`, before it is printed.
// Made from collect()'s result; printed by step_tables.h, text.h and json.h. Invariant: what the clocks leave unknown
// is counted, and is in no sum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backwards.h"
#include "events_by_key.h"
#include "path.h"
#include "totals.h"

namespace monitor::requests {

struct SlowRequest {
	std::string key;
	Path path;
};

struct Answer {
	std::string key;                // its names
	std::vector<std::string> hosts; // by machine
	std::vector<Point> points;
	std::vector<StepTotals> steps;   // between points
	std::vector<StepTotals> by_host; // between hosts; the same host: within it
	std::vector<SlowRequest> slowest;
	std::vector<Backwards> backwards;
	std::uint64_t requests = 0, events = 0; // those with at least two events
	std::uint64_t single = 0;               // keys of one event
	std::uint64_t unknown_time = 0;         // requests with an unknown bound of their first or last event's host
	std::uint64_t again = 0;                // requests whose first event occurs again
	std::uint64_t steps_left_out = 0;       // those beyond the limit of rows
	__int128 total_ns = 0;                  // of known times
	Collected left_out;                     // only its counts
};

// `slowest`: number of slowest requests wanted.
Answer answer(Collected &&collected, const PathMaker &maker, std::size_t slowest);

} // namespace monitor::requests
