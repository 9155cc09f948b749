// SPDX-License-Identifier: MIT
// The rules of what processes did, and of what CPUs did beside them.
#pragma once

#include <vector>

#include "claims.h"

namespace monitor::explain {

class MachineRules final : Claims {
public:
	using Claims::Claims;

	std::vector<Finding> of_processes(); // with a path, those of its command
	std::vector<Finding> of_cpus();

private:
	void storm();
	void call_edges();
	void users(); // without a path
	void balance();
};

} // namespace monitor::explain
