// SPDX-License-Identifier: MIT
// Programs of different kinds that every machine has, by which monitor doctor --calibrate measures what an event costs
// outside of loops.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace monitor::pilot {

struct Load {
	std::string name;
	std::function<void(unsigned times)> run; // in a process of its own, which it may leave without return
};

// `directory`: where files may be written.
std::vector<Load> real_code(const std::string &directory);

} // namespace monitor::pilot
