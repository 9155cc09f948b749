// SPDX-License-Identifier: MIT
// Adds a trace to an archive as a new measurement, atomically: it exists as a whole, or not at all.
// Everything is made in a hidden folder beside the final one, which is renamed when it is complete. The writer holds a
// lock on that folder; one without a lock is what a killed `add` left, and the next one removes it. Renaming never
// replaces anything, so of writers that add the same name at the same time exactly one succeeds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "entry.h"
#include "figure.h"

namespace monitor::archive {

enum class Transfer : std::uint8_t {
	copy,
	move, // by hard links where possible; the original is then removed
	link, // the measurement refers to the original by its path
};

struct Added {
	Entry entry;
	std::vector<std::string> notes; // messages: what is unknown, or not as requested
};

// Throws Error: the name is taken or not valid, the directory is not a trace, nothing can be written.
Added add(const std::string &archive, const std::string &directory, const std::string &name, const std::string &note,
	  Transfer transfer);

} // namespace monitor::archive
