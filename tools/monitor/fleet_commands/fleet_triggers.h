// SPDX-License-Identifier: MIT
// At the end of `monitor fleet record --snapshot-all -o RUN`: the delay from each trigger until the last host froze its
// rings, on the clock of RUN, with its error bound. The clocks of RUN must be known.
#pragma once

#include <string>
#include <vector>

#include "fleet/operator/coordinated_view.h"

namespace monitor {

// Prints it, and writes RUN/.monitor/triggers.json. Throws Error.
void write_fleet_triggers(const std::string &run, const std::vector<fleet_operator::CoordinatedSnapshot> &triggers);

} // namespace monitor
