// SPDX-License-Identifier: MIT
// For a build without ncurses.
#include "base/error.h"
#include "screen.h"

namespace monitor::play {

int show_on_screen(Play &)
{
	throw Error(
	    "this build shows no animation in the terminal: it needs a build with ncurses (libncurses-dev, cmake "
	    "-DMONITOR_SCREEN=ON); --frame prints a frame as text");
}

} // namespace monitor::play
