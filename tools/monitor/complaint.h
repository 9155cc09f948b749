// SPDX-License-Identifier: MIT
// Words command-line errors in one sentence, with what to type instead.
#pragma once

#include <string>

#include "commands.h"

namespace monitor {

// "after is required" of CLI11 becomes "AFTER is missing: monitor diff BEFORE AFTER (see monitor diff --help)".
// `first`: the first word after the program's name, or "".
std::string complaint(const CLI::App &app, const CLI::ParseError &error, const std::string &first);

} // namespace monitor
