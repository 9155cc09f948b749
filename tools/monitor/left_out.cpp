// SPDX-License-Identifier: MIT
// In a build without the record side: its subcommands are known, and say why they cannot run.
#include "base/error.h"
#include "commands.h"

namespace monitor {
namespace {

void left_out(CLI::App &app, const std::string &name)
{
	CLI::App *command = app.add_subcommand(name, "left out of this build");
	command->allow_extras(); // whatever follows is not looked at,
	app.allow_extras();      // what stands behind -- is the program's, not the command's
	command->callback([name] {
		throw Error("this build reads traces only: `monitor " + name +
			    "` needs a build with libbpf, clang and bpftool (cmake -DMONITOR_RECORD=ON)");
	});
}

} // namespace

void add_record(CLI::App &app, int &)
{
	left_out(app, "record");
}

void add_doctor(CLI::App &app, int &)
{
	left_out(app, "doctor");
}

void add_events(CLI::App &app, int &)
{
	left_out(app, "events");
}

} // namespace monitor
