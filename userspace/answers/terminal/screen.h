// SPDX-License-Identifier: MIT
// The terminal that something is shown on for a while: shows cells, reads keys, notices a new size. The only file that
// knows ncurses is screen.cpp; a build without it has screen_left_out.cpp instead.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cells.h"

namespace monitor::terminal {

struct KeyPress {
	enum class What : std::uint8_t {
		character,
		left,
		right,
		up,
		down,
		page_up,
		page_down,
		home,
		end,
		tab,
		enter,
		escape,
		backspace,
		function, // F1 to F12: `character` is its number
	} what = What::character;
	char32_t character = 0;
};

// What is shown. One thread calls it; tests press keys themselves.
class Showing {
public:
	virtual ~Showing() = default;
	virtual Cells draw(unsigned rows, unsigned columns) = 0;
	// False: quit.
	virtual bool press(const KeyPress &key) = 0;
	// A frame's time has passed. True: there is something else to draw.
	virtual bool tick() = 0;
	// Only keys change it.
	virtual bool is_still() const { return false; }
	// There is something to work at between frames; work() does a part of it and returns whether there is more.
	virtual bool is_working() const { return false; }
	virtual bool work() { return false; }
	// It has ended by itself.
	virtual bool is_over() const { return false; }
};

// Until a key or a signal ends it; the terminal is then as before. `instead`: what the user can do without a suitable
// terminal, such as "--frame prints a frame as text". Returns the signal (SIGINT, SIGTERM, SIGHUP), or 0. Throws Error:
// this build has no screen, or the terminal is not suitable.
int show(Showing &showing, std::chrono::nanoseconds frame_time, const std::string &instead);

} // namespace monitor::terminal
