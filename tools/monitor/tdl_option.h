// SPDX-License-Identifier: MIT
// --tdl, which every subcommand has that opens traces.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace monitor {

// The option's value goes to Trace::open.
inline void add_tdl_option(CLI::App &command, std::string &tdl)
{
	command
	    .add_option("--tdl", tdl,
			"what is no directory is described so: a file in TDL, or a shipped one; see monitor-tdl(1)")
	    ->option_text("FILE");
}

} // namespace monitor
