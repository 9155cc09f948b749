// SPDX-License-Identifier: MIT
// The first stage of inference: reads a trace, and divides what each thread of the program did into steps.
//
// All times are in ns. CPU times are without the cost of the recording's probes, if its calibration knows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "reading/events/trace.h"

namespace monitor::model {

// The recordings do not suffice: exit code 3 instead of 1.
class Refused : public Error {
public:
	using Error::Error;
};

inline constexpr std::uint32_t nothing = ~0u;
// Instead of the thread that ended a wait.
inline constexpr std::uint32_t interrupt = ~0u - 1, unknown = ~0u - 2;

struct Step {
	enum class Kind : std::uint8_t { run, begin, end, wait, wake } kind = Kind::run;
	bool is_remote = false;    // wake: on another CPU than the waker's
	bool is_timed = false;     // wait: in nanosleep() or clock_nanosleep()
	std::uint32_t what = 0;    // begin, end: the activity; wake: the woken thread; wait: the waker
	std::uint32_t waking = 0;  // wake, wait: the number of the wake-up
	std::uint32_t latency = 0; // wait: from the wake-up until the thread ran
	std::uint64_t time = 0;    // of begin, end and wake; wait: when it began
	std::uint64_t ns = 0;      // run: CPU time; wait: from its beginning to the wake-up
	std::uint64_t key = 0;     // begin, end: the activity's argument
};

struct ThreadSteps {
	std::int32_t tid = 0;
	std::string name;
	std::uint64_t born = 0, ended = 0; // 0: before the recording, or not in it
	std::vector<Step> steps;
};

struct Steps {
	static constexpr std::size_t max_steps = 5'000'000;

	std::string directory;
	std::vector<std::string> activities; // names; Step::what is an index
	std::vector<bool> has_argument;      // by activity
	bool marks_functions = false;        // all activities that occurred are functions
	std::vector<ThreadSteps> threads;    // of the program; Step::what is an index
	std::uint32_t cpus = 1;
	bool is_realtime = false;             // most of the program's wake-ups were of realtime threads
	std::uint64_t begin = 0, end = 0;     // of the recorded command; 0: unknown
	std::vector<std::uint64_t> latencies; // of wake-ups while a CPU was idle, sorted
	std::uint64_t wake_cost = 0; // CPU time that waking a thread on an idle CPU takes more than on the own one
	std::string why_no_cost;     // why CPU times include the cost of probes; "": they do not
};

// `comms`: threads with these names belong to the program, besides the recorded command and its descendants.
// Throws Error, Refused.
Steps collect_steps(trace::Trace &trace, const std::vector<std::string> &comms);

} // namespace monitor::model
