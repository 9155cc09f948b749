// SPDX-License-Identifier: MIT
// For a build without libnats, libcrypto or the record side: accepts `monitor agent`, and says why it cannot run.
#include "base/error.h"
#include "commands.h"

namespace monitor {

void add_agent(CLI::App &app, int &)
{
	CLI::App *command = app.add_subcommand("agent", "left out of this build");
	command->allow_extras(); // ignore whatever follows
	command->callback([] {
		throw Error("this build has no `monitor agent`: it needs a build with libbpf, clang, bpftool, libnats "
			    "and libcrypto (cmake -DMONITOR_RECORD=ON -DMONITOR_FLEET=ON)");
	});
}

} // namespace monitor
