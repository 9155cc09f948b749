// SPDX-License-Identifier: MIT
// For a build without libnats, libcrypto or the record side.
#include "left_out.h"

namespace monitor {

void add_agent(CLI::App &app, int &)
{
	leave_out(app, "agent",
		  "this build has no `monitor agent`: it needs a build with libbpf, clang, bpftool, libnats and "
		  "libcrypto (cmake -DMONITOR_RECORD=ON -DMONITOR_FLEET=ON)");
}

} // namespace monitor
