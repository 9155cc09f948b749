// SPDX-License-Identifier: MIT
// For a build without the record side.
#include "left_out.h"
#include "base/error.h"
#include "plan_command.h"

namespace monitor {

#define LEFT_OUT(name)                                                                                   \
	void add_##name(CLI::App &app, int &)                                                            \
	{                                                                                                \
		leave_out(app, #name,                                                                    \
			  "this build reads traces only: `monitor " #name                                \
			  "` needs a build with libbpf, clang and bpftool (cmake -DMONITOR_RECORD=ON)"); \
	}

void add_pilot_options(CLI::App &, PilotArguments &) {}

int run_pilot(const PilotArguments &, const std::vector<std::string> &, bool)
{
	throw Error("this build reads traces only: `monitor plan -- CMD` needs a build with libbpf, clang and bpftool");
}

LEFT_OUT(doctor)
LEFT_OUT(events)
LEFT_OUT(filter)
LEFT_OUT(record)
LEFT_OUT(serve)
LEFT_OUT(snapshot)
LEFT_OUT(top)
LEFT_OUT(trigger)

} // namespace monitor
