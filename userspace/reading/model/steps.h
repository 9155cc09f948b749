// SPDX-License-Identifier: MIT
// The first stage of inference: what the threads of a recorded program did, step by step. One pass over the trace.
//
// CPU times are without what the probes of the recording took, as far as its calibration says. In nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "reading/events/trace.h"

namespace monitor::model {

// Nothing can be learnt, or predicted: exit code 3 instead of 1.
class Refused : public Error {
public:
	using Error::Error;
};

inline constexpr std::uint32_t nothing = ~0u;
// In place of the thread that ended a wait.
inline constexpr std::uint32_t interrupt = ~0u - 1, unknown = ~0u - 2;

struct Step {
	enum class Kind : std::uint8_t { run, begin, end, wait, wake } kind = Kind::run;
	bool is_remote = false;    // wake: the woken thread was to run on another CPU
	bool is_timed = false;     // wait: in a call that only lets time pass
	std::uint32_t what = 0;    // begin, end: the activity; wake: the woken thread; wait: who ended it
	std::uint32_t waking = 0;  // wake, wait: the number of the wake-up
	std::uint32_t latency = 0; // wait: from the wake-up to the CPU
	std::uint64_t time = 0;    // begin, end, wake: when; wait: since when
	std::uint64_t ns = 0;      // run: CPU time; wait: until the wake-up
	std::uint64_t key = 0;     // begin, end: the argument
};

struct ThreadSteps {
	std::int32_t tid = 0;
	std::string name;
	std::vector<Step> steps;
};

struct Steps {
	static constexpr std::size_t max_steps = 5'000'000;

	std::string directory;
	std::vector<std::string> activities; // by number: names
	std::vector<bool> has_argument;      // by number
	bool marks_functions = false;        // all that occurred are functions
	std::vector<ThreadSteps> threads;    // of the program; numbers in Step are places here
	std::uint32_t cpus = 1;
	bool is_realtime = false;             // most of the program's wake-ups were of threads with such a policy
	std::uint64_t begin = 0, end = 0;     // of the program; 0: not seen
	std::vector<std::uint64_t> latencies; // of wake-ups while a CPU was idle, sorted
	std::uint64_t wake_cost = 0;          // what waking a thread on an idle CPU takes more
	std::string why_no_cost;              // what the probes cost is in the CPU times, because
};

// `comms`: threads with these names belong to the program, besides the recorded command and its descendants.
// Throws Error, Refused.
Steps collect_steps(trace::Trace &trace, const std::vector<std::string> &comms);

} // namespace monitor::model
