// SPDX-License-Identifier: MIT
// A stub for a command that the build leaves out: reports why it cannot run.
#pragma once

#include <string>

#include "base/error.h"
#include "commands.h"

namespace monitor {

inline void leave_out(CLI::App &app, const std::string &name, const std::string &why)
{
	CLI::App *command = app.add_subcommand(name, "left out of this build");
	command->allow_extras(); // ignore whatever follows,
	// and what follows "--", which CLI11 assigns to the top-level parser
	command->preparse_callback([&app](std::size_t) { app.allow_extras(); });
	command->callback([why] { throw Error(why); });
}

} // namespace monitor
