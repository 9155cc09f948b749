// SPDX-License-Identifier: MIT
// For a build without libnats or libcrypto: accepts `monitor fleet`, and says why it cannot run. Also for the program
// without shared libraries (tests/vm), as libnats is one.
#include "base/error.h"
#include "commands.h"

namespace monitor {

void add_fleet(CLI::App &app, int &)
{
	CLI::App *command = app.add_subcommand("fleet", "left out of this build");
	command->allow_extras(); // ignore whatever follows,
	app.allow_extras();      // and what follows "--"
	command->callback([] {
		throw Error(
		    "this build has no `monitor fleet`: it needs a build with libnats and libcrypto (libnats-dev, "
		    "libssl-dev, cmake -DMONITOR_FLEET=ON)");
	});
}

} // namespace monitor
