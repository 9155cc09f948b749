// SPDX-License-Identifier: MIT
// The option --tdl, common to all subcommands that open traces.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace monitor {

// The option's value is passed to Trace::open.
inline void add_tdl_option(CLI::App &command, std::string &tdl)
{
	command
	    .add_option("--tdl", tdl,
			"read this trace with a TDL description: a file, or the name of a shipped one (monitor-tdl(1))")
	    ->option_text("FILE");
}

} // namespace monitor
