// SPDX-License-Identifier: MIT
// `monitor record -e help`: what -e takes, and what an event costs on this machine.
#pragma once

namespace monitor {

void print_events_help();

} // namespace monitor
