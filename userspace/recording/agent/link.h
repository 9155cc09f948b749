// SPDX-License-Identifier: MIT
// What the starter tells the network part over their socket pair: an answer to be published, or which runs there are.
// The other way envelopes go as they came. One datagram each.
// Used by starter.cpp and network_part.cpp, which are of one program and one version.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/fleet/control.h"
#include "base/fleet/reports.h"

namespace monitor::agent {

// The first byte of a datagram.
inline constexpr char link_answer = 'A',
		      link_runs = 'R'; // command_answer_text(); presence_text() with the runs and `refused`

// More than any envelope, so that one that is too large is seen to be.
inline constexpr std::size_t max_link_bytes = fleet::max_envelope_bytes + 1;

// The starter's end, and the network part's. Throws Error.
std::pair<Fd, Fd> make_link();

} // namespace monitor::agent
