// SPDX-License-Identifier: MIT
// `monitor plan [-d SECONDS] -- CMD`: what recording CMD will cost it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace monitor {

struct PilotArguments {
	std::optional<double> seconds;
	std::string families, selection;
};

void add_pilot_options(CLI::App &plan, PilotArguments &to);
// Returns the exit code. Throws Error.
int run_pilot(const PilotArguments &arguments, const std::vector<std::string> &command, bool json);

} // namespace monitor
