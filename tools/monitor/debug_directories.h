// SPDX-License-Identifier: MIT
// The option --debug-dir of what names functions.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace monitor {

inline void add_debug_directories(CLI::App &command, std::vector<std::string> &directories)
{
	command
	    .add_option("--debug-dir", directories,
			"of stacks: search symbols and debug information here, too, by build id (default: "
			"/usr/lib/debug)")
	    ->option_text("DIR")
	    ->check(CLI::ExistingDirectory)
	    ->allow_extra_args(false);
}

} // namespace monitor
