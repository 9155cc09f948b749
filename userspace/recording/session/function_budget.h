// SPDX-License-Identifier: MIT
// Keeps what recorded functions cost within a share of the CPU time that is used (record --budget): counts their events
// and leaves out the costliest.
//
// What an event costs was measured at the start; the CPU time is that of all processes, from /proc/stat, because calls
// of any process hit the probes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace monitor::record {

// Of the events of one function: how many so far, and ns of one.
struct FunctionLoad {
	std::uint64_t events = 0;
	double event_ns = 0;

	double ns() const { return static_cast<double>(events) * event_ns; }
};

// The functions to leave out, costliest first, so that the others take at most `allowed_ns`.
std::vector<std::size_t> costliest(const std::vector<FunctionLoad> &loads, double allowed_ns);

struct LeftOutFunction {
	std::size_t number = 0;
	FunctionLoad load; // in that time
	double seconds = 0;
	double share = 0; // of the CPU time used then
};

class FunctionBudget {
public:
	// `share`: 0.03 for 3 %.
	FunctionBudget(double share, unsigned cpus) : share_(share), cpus_(cpus) {}

	// What must be left out from now on; not again what was returned before. Judges once a second, or as soon as
	// more was spent than a second may cost at most.
	// `all`: of each function, by number; what was left out stays the same. `used`: since boot, by any process, in
	// ns of CPU time.
	std::vector<LeftOutFunction> look(std::chrono::steady_clock::time_point now, std::vector<FunctionLoad> all,
					  double used);

private:
	double share_;
	unsigned cpus_;
	std::chrono::steady_clock::time_point since_{};
	double used_before_ = 0;
	std::vector<FunctionLoad> before_;
	std::vector<bool> left_out_;
};

// ns of CPU time since boot, other than idle and stolen: proc_stat(5).
double used_cpu_ns();

} // namespace monitor::record
