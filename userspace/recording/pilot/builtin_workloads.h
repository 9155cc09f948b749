// SPDX-License-Identifier: MIT
// Built-in workloads of different kinds, with which monitor doctor --calibrate measures the cost of events in real
// code.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace monitor::pilot {

struct Workload {
	std::string name;
	std::function<void(unsigned times)> run; // in a child process; may call _exit()
};

// `directory`: where files may be written.
std::vector<Workload> builtin_workloads(const std::string &directory);

} // namespace monitor::pilot
