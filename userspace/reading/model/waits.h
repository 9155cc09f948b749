// SPDX-License-Identifier: MIT
// The fifth stage of inference: what each wait was for. Those that the structure explains happen again, or not, when a
// model is replayed; others keep the wake-up that ended them, as a semaphore, or are delays.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "structure.h"

namespace monitor::model {

struct Semaphore {
	std::size_t from = 0, to = 0; // roles
	bool is_own = false;          // between threads with the same number
	std::string name;
};

struct Waits {
	enum class Cause : std::uint8_t { none, structure, semaphore, delay };

	// By recording, then by number of the wake-up.
	std::vector<std::vector<Cause>> causes;
	std::vector<std::vector<std::uint32_t>> semaphore_of; // of those: by place
	std::vector<Semaphore> semaphores;
	std::string because;
};

// Throws Refused: too much of the waiting is not explained.
Waits explain_waits(const std::vector<Recording> &recordings, const Structure &structure);

// Role and number within it of each thread of a recording; `nothing`: it has none.
struct ThreadPlace {
	std::size_t role = nothing;
	std::uint32_t number = 0;
};
std::vector<ThreadPlace> thread_places(const Recording &recording);

} // namespace monitor::model
