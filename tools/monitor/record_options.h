// SPDX-License-Identifier: MIT
// What monitor record and monitor top have in common: options as text, which throw Error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_size.h"

namespace monitor {

inline constexpr int exit_monitor_failed = 125; // as timeout(1): 126 not executable, 127 not found

// At each comma.
std::vector<std::string> split(const std::string &list);
// -e: each once; "": none.
std::vector<std::string> parse_families(const std::string &text);
// An item of -p, or of another option: a process that runs. `or_what`: what else it is when it is no number, such as
// "no process id".
int parse_process(const std::string &item, const char *or_what, const char *option = "-p");

} // namespace monitor
