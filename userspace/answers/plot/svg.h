// SPDX-License-Identifier: MIT
// Charts as one SVG picture: needs no other file, no script and no font; light or dark as its viewer is.
//
// Colours are of a palette that people with any colour vision can tell apart; what is unknown is hatched, not only
// coloured. Labels are untrusted: invariant: the text is well-formed XML, whatever they are.
#pragma once

#include <string>
#include <vector>

#include "chart.h"

namespace monitor::plot {

// Below one another; then the notes: what is lost or unknown, in lines.
std::string to_svg(const std::vector<Chart> &charts, const std::string &notes);

} // namespace monitor::plot
