// SPDX-License-Identifier: MIT
// Which host made requests slow: all that `monitor report RUN requests` says, before it is printed.
//
// Called by requests_report.cpp with what collect() found; step_tables.h, text.h and json.h print it.
// Invariant: what the clocks leave unknown is counted, and is in no sum.
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
	std::string key;                // the names
	std::vector<std::string> hosts; // by machine
	std::vector<Point> points;
	std::vector<StepTotals> steps;   // from point to point
	std::vector<StepTotals> by_host; // from host to host; the same: within it
	std::vector<SlowRequest> slowest;
	std::vector<Backwards> backwards;
	std::uint64_t requests = 0, events = 0; // with two events at least
	std::uint64_t single = 0;               // keys of one event
	std::uint64_t unknown_time = 0;         // requests whose first and last event are on hosts of unknown bounds
	std::uint64_t again = 0;                // requests whose first event comes again
	std::uint64_t steps_left_out = 0;       // of further rows
	__int128 total_ns = 0;                  // of the known times
	Collected left_out;                     // its counts
};

// `slowest`: how many are wanted.
Answer answer(Collected &&collected, const PathMaker &maker, std::size_t slowest);

} // namespace monitor::requests
