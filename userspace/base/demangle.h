// SPDX-License-Identifier: MIT
// Demangles function names, in the same way when functions to record are chosen (recording/functions) and when stacks
// are symbolized (reading/symbols).
#pragma once

#include <string>

namespace monitor {

// C++ and both Rust manglings by libiberty; without that library C++ only. Other names, and those longer than 4,096
// bytes, are unchanged. Symbol versions in .symtab: NAME@@DEFAULT becomes NAME; NAME@OLD is kept.
std::string demangled(const std::string &name);

} // namespace monitor
