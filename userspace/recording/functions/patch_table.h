// SPDX-License-Identifier: MIT
// What the command's processes need to patch their functions: the library that does it (recording/preload/), and the
// table that tells it which.
#pragma once

#include <string>
#include <vector>

#include "recording/card/function_probes.h"

namespace monitor::functions {

// The library's path; empty: this monitor has none.
std::string preloaded_library();

// The bytes of monitor/function_table.h. A function's number is its index. Throws Error if a file cannot be read.
std::string patch_table(const std::vector<card::Function> &functions);

// NAME=VALUE, to add to the environment of the command.
std::vector<std::string> patch_environment(const std::string &table_path);

} // namespace monitor::functions
