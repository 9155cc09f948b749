// SPDX-License-Identifier: MIT
// Parses options of monitor record and monitor top. All throw Error.
#pragma once

#include <string>
#include <vector>

#include "base/byte_size.h"
#include "base/scanner.h"

namespace monitor {

inline constexpr int exit_monitor_failed = 125; // as timeout(1): 126 not executable, 127 not found

// -e: families, and the classes of them that named sets leave out.
struct ChosenEvents {
	std::vector<std::string> families, left_out;
};
ChosenEvents parse_events(const std::string &text);
// The PID of a running process; `option` is for the error.
int parse_process(const std::string &item, const char *option);
// An item of -p: a PID, or the name of running processes, whose PIDs are printed. `or_what`: for the error, such as ",
// nor 'cmd'".
std::vector<int> parse_processes(const std::string &item, const char *or_what = "");

} // namespace monitor
