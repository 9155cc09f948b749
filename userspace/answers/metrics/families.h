// SPDX-License-Identifier: MIT
// Which metrics `monitor serve` has, and what each is called: figures as text. Documentation/man/monitor-serve.1 lists
// them. Called by newest_text.cpp, by several threads.
#pragma once

#include <cstdint>
#include <string>

#include "exposition.h"
#include "figures.h"

namespace monitor::metrics {

// What the recorder knows without the fold.
struct RecorderFigures {
	std::string version;    // of this program
	std::uint64_t lost = 0; // events, since the start
};

std::string exposition(const Figures &figures, const RecorderFigures &recorder, Format format);

} // namespace monitor::metrics
