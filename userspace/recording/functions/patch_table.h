// SPDX-License-Identifier: MIT
// For the command's processes that patch their own functions: the preloaded library (recording/preload/) and its table
// of functions.
#pragma once

#include <string>
#include <vector>

#include "recording/card/function_probes.h"

namespace monitor::functions {

// The library's path; empty: not installed.
std::string preloaded_library();

// The bytes of monitor/function_table.h. A function's number is its index. Throws Error if a file cannot be read.
std::string patch_table(const std::vector<card::Function> &functions);

// NAME=VALUE, to add to the environment of the command.
std::vector<std::string> patch_environment(const std::string &table_path);

} // namespace monitor::functions
