// SPDX-License-Identifier: MIT
// Charts as one SVG picture, without external files, scripts and fonts; light or dark like its viewer.
// Colours are from a palette for all kinds of colour vision; unknown parts are hatched, not only coloured. Labels are
// untrusted: invariant: the text is well-formed XML, whatever they are.
#pragma once

#include <string>
#include <vector>

#include "chart.h"

namespace monitor::plot {

// Charts from top to bottom; then the notes, line by line: what is lost or unknown.
std::string to_svg(const std::vector<Chart> &charts, const std::string &notes);

} // namespace monitor::plot
