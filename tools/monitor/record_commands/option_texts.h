// SPDX-License-Identifier: MIT
// What monitor record and monitor top have in common: options as text, which throw Error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_size.h"
#include "base/scanner.h"

namespace monitor {

inline constexpr int exit_monitor_failed = 125; // as timeout(1): 126 not executable, 127 not found

// -e: families, each once, and of the sets that it names which classes of these are left out; "": none.
struct ChosenEvents {
	std::vector<std::string> families, left_out;
};
ChosenEvents parse_events(const std::string &text);
// The number of a process that runs, of `option`.
int parse_process(const std::string &item, const char *option);
// An item of -p: the number of a process that runs, or the name of some, of which it says the numbers. `or_what`: what
// else it is not, such as ", nor 'cmd'".
std::vector<int> parse_processes(const std::string &item, const char *or_what = "");

} // namespace monitor
