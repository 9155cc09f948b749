// SPDX-License-Identifier: MIT
// For a build without SQLite.
#include "left_out.h"

namespace monitor {

void add_query(CLI::App &app, int &)
{
	leave_out(app, "query",
		  "this build has no `monitor query`: it needs a build with SQLite 3.38 or later (libsqlite3-dev, "
		  "cmake -DMONITOR_QUERY=ON)");
}

} // namespace monitor
