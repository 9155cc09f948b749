// SPDX-License-Identifier: MIT
// For a build without SQLite: accepts `monitor query`, and says why it cannot run.
#include "base/error.h"
#include "commands.h"

namespace monitor {

void add_query(CLI::App &app, int &)
{
	CLI::App *command = app.add_subcommand("query", "left out of this build");
	command->allow_extras(); // ignore whatever follows
	command->callback([] {
		throw Error("this build has no `monitor query`: it needs a build with SQLite 3.38 or later "
			    "(libsqlite3-dev, cmake -DMONITOR_QUERY=ON)");
	});
}

} // namespace monitor
