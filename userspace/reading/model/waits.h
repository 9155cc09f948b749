// SPDX-License-Identifier: MIT
// The fifth stage of inference: the cause of each wait. Waits that the structure explains are not in the model: a
// replay determines whether they occur. The others become operations on semaphores, or sleeps if they are rare or
// the program has not ended them.
#pragma once

#include <string>
#include <vector>

#include "structure.h"

namespace monitor::model {

struct Semaphore {
	std::size_t from = 0, to = 0; // roles
	bool is_own = false;          // one for each pair of threads with the same number
	std::string name;
};

struct Waits {
	enum class Cause : std::uint8_t { none, structure, semaphore, delay };

	// By recording, then by number of the wake-up.
	std::vector<std::vector<Cause>> causes;
	std::vector<std::vector<std::uint32_t>> semaphore_of; // in `semaphores`
	std::vector<Semaphore> semaphores;
	std::string because;
};

// Throws Refused if too large a share of the waiting time is unexplained.
Waits explain_waits(const std::vector<Recording> &recordings, const Structure &structure);

// The role of each thread of a recording (`nothing`: none), and its number within that.
struct ThreadRole {
	std::size_t role = nothing;
	std::uint32_t number = 0;
};
std::vector<ThreadRole> thread_roles(const Recording &recording);

} // namespace monitor::model
