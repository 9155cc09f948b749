// SPDX-License-Identifier: MIT
// For builds without ncurses.
#include "base/error.h"
#include "screen.h"

namespace monitor::terminal {

int show(InteractiveView &, std::chrono::nanoseconds, const std::string &instead)
{
	throw Error("this build shows nothing on a screen: it needs a build with ncurses (libncurses-dev, cmake "
		    "-DMONITOR_SCREEN=ON); " +
		    instead);
}

} // namespace monitor::terminal
