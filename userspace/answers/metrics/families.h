// SPDX-License-Identifier: MIT
// The metrics of `monitor serve`: their names, and the figures as text. Documentation/man/monitor-serve.1 lists them.
// Called by several threads.
#pragma once

#include <cstdint>
#include <string>

#include "exposition.h"
#include "figures.h"

namespace monitor::metrics {

// Figures that the recorder has without the fold.
struct RecorderFigures {
	std::string version;    // of this program
	std::uint64_t lost = 0; // events, since the start
};

std::string exposition(const Figures &figures, const RecorderFigures &recorder, Format format);

} // namespace monitor::metrics
