// SPDX-License-Identifier: MIT
// Keeps the cost of recorded functions within a share of the used CPU time (record --budget): counts their events and
// drops the most expensive ones.
//
// What an event costs was measured at the start; the CPU time is that of all processes, from /proc/stat, because calls
// of any process hit the probes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace monitor::record {

// Events of one function so far, and the cost of one in ns.
struct FunctionLoad {
	std::uint64_t events = 0;
	double event_ns = 0;

	double ns() const { return static_cast<double>(events) * event_ns; }
};

// The functions to leave out, costliest first, so that the others take at most `allowed_ns`.
std::vector<std::size_t> costliest(const std::vector<FunctionLoad> &loads, double allowed_ns);

struct LeftOutFunction {
	std::size_t number = 0;
	FunctionLoad load; // in the last interval
	double seconds = 0;
	double share = 0; // of the CPU time used in that interval
};

class FunctionBudget {
public:
	// `share`: 0.03 for 3 %.
	FunctionBudget(double share, unsigned cpus) : share_(share), cpus_(cpus) {}

	// Returns functions to drop from now on, each once. Decides once a second, or earlier if the budget of a second
	// is spent. `all`: by function number; counts of dropped functions no longer change. `used`: CPU time of all
	// processes since boot, in ns.
	std::vector<LeftOutFunction> update(std::chrono::steady_clock::time_point now, std::vector<FunctionLoad> all,
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
