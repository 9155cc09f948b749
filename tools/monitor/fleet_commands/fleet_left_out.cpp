// SPDX-License-Identifier: MIT
// For a build without libnats or libcrypto. Also for the program without shared libraries (tests/vm), as libnats is
// one.
#include "left_out.h"

namespace monitor {

void add_fleet(CLI::App &app, int &)
{
	leave_out(app, "fleet",
		  "this build has no `monitor fleet`: it needs a build with libnats and libcrypto (libnats-dev, "
		  "libssl-dev, cmake -DMONITOR_FLEET=ON)");
}

} // namespace monitor
