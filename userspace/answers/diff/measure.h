// SPDX-License-Identifier: MIT
// Folds one repetition into rows.
// The sums are those of `monitor report` in the same window: CPU time and waiting as in the report cpu, calls as in the
// report syscalls, sleeps as in its column `blocked`, functions and stacks as in the report stacks.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "reading/analyze/recording_info.h"
#include "rows.h"
#include "side.h"

namespace monitor::diff {

// A recording whose threads can be compared, and how it was made.
struct Input {
	Part part;
	analyze::RecordingInfo info;
	analyze::Recorded recorded;
	std::string identity; // equal for copies of one recording; "": unknown
	dev_t device = 0;     // of the directory
	ino_t inode = 0;
	trace::TimeRange range;  // of the recording
	std::uint64_t slack = 0; // adjacent windows may overlap by this many ticks
};

// Throws Error: its threads are not known.
Input input_of(const trace::Trace &trace, const Part &part);

// For one side. Throws Error: two cover the same time of the same recording, so they are not repetitions.
void expect_repetitions(std::span<const Input> side);

// Which rows lead (rows.h), and messages about how the recordings differ. Throws Error: they have nothing in common.
Plan plan_of(const std::vector<Input> &inputs);
std::vector<std::string> differences(const std::vector<Input> &inputs, std::size_t before); // BEFORE's come first

struct MeasureOptions {
	Plan plan;
	std::function<void(double part)> progress{}; // called from time to time
};

// Reads all of the trace. Throws Error.
Measured measure(trace::Trace &trace, const Part &part, const MeasureOptions &options);

} // namespace monitor::diff
