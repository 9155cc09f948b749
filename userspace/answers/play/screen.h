// SPDX-License-Identifier: MIT
// The terminal that an animation is shown on: shows cells, reads keys, notices a new size. The only file that knows
// ncurses is screen.cpp; a build without it has screen_left_out.cpp instead.
#pragma once

#include "play.h"

namespace monitor::play {

// Until a key or a signal ends it; the terminal is then as before. Returns the signal (SIGINT, SIGTERM, SIGHUP), or 0.
// Throws Error: this build has no screen, or the terminal is not suitable.
int show_on_screen(Play &play);

} // namespace monitor::play
