// SPDX-License-Identifier: MIT
// For a build without libnats: accepts `monitor fleet`, and says why it cannot run.
#include "base/error.h"
#include "commands.h"

namespace monitor {

void add_fleet(CLI::App &app, int &)
{
	CLI::App *command = app.add_subcommand("fleet", "left out of this build");
	command->allow_extras(); // ignore whatever follows
	command->callback([] {
		throw Error("this build has no `monitor fleet`: it needs a build with libnats (libnats-dev, cmake "
			    "-DMONITOR_FLEET=ON)");
	});
}

} // namespace monitor
