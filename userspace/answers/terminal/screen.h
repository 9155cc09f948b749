// SPDX-License-Identifier: MIT
// An interactive terminal: shows cells, reads keys, handles resizing. Only screen.cpp uses ncurses; a build without it
// has screen_left_out.cpp instead.
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

// Something interactive to show. Called by one thread; tests press keys themselves.
class InteractiveView {
public:
	virtual ~InteractiveView() = default;
	virtual Cells draw(unsigned rows, unsigned columns) = 0;
	// False: quit.
	virtual bool press(const KeyPress &key) = 0;
	// Called once per frame time. True: redraw.
	virtual bool tick() = 0;
	// It changes only when keys are pressed.
	virtual bool is_still() const { return false; }
	// Work is pending, to be done between frames; work() does a part of it and returns whether more is left.
	virtual bool is_working() const { return false; }
	virtual bool work() { return false; }
	// It has ended by itself.
	virtual bool is_over() const { return false; }
};

// Runs until a key or a signal ends it; then restores the terminal. `instead`: what the user can do without a suitable
// terminal, such as "--frame prints a frame as text". Returns the signal (SIGINT, SIGTERM, SIGHUP), or 0. Throws Error:
// this build has no screen, or the terminal is not suitable.
int show(InteractiveView &view, std::chrono::nanoseconds frame_time, const std::string &instead);

} // namespace monitor::terminal
