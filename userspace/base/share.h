// SPDX-License-Identifier: MIT
// Where the data files of share/ are: MONITOR_SHARE, else beside the program's prefix (../share/monitor), else in the
// source tree that the program was built from.
#pragma once

#include <string>

namespace monitor {

// The path of share/NAME; the first place that has it, or the last one tried.
std::string share_path(const std::string &name);

} // namespace monitor
