// SPDX-License-Identifier: MIT
// For a build without the record side: accepts its subcommands, and says why they cannot run.
#include "base/error.h"
#include "commands.h"

namespace monitor {
namespace {

void left_out(CLI::App &app, const std::string &name)
{
	CLI::App *command = app.add_subcommand(name, "left out of this build");
	command->allow_extras(); // ignore whatever follows,
	app.allow_extras();      // and what follows "--", which is the program's, not the command's
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

void add_top(CLI::App &app, int &)
{
	left_out(app, "top");
}

void add_serve(CLI::App &app, int &)
{
	left_out(app, "serve");
}

void add_doctor(CLI::App &app, int &)
{
	left_out(app, "doctor");
}

void add_events(CLI::App &app, int &)
{
	left_out(app, "events");
}

void add_snapshot(CLI::App &app, int &)
{
	left_out(app, "snapshot");
}

void add_trigger(CLI::App &app, int &)
{
	left_out(app, "trigger");
}

void add_filter(CLI::App &app, int &)
{
	left_out(app, "filter");
}

} // namespace monitor
