// SPDX-License-Identifier: MIT
// Names of functions as the programming language writes them. Used where functions are chosen to be recorded
// (recording/functions) and where stacks are named (reading/symbols), which so call them the same.
#pragma once

#include <string>

namespace monitor {

// C++, and Rust in both of its encodings, by libiberty; without that library C++ only. Others, and what is longer than
// 4,096 bytes, as they are. Of versions, which a .symtab has in its names, NAME@@DEFAULT is NAME; NAME@OLD keeps its
// own.
std::string demangled(const std::string &name);

} // namespace monitor
