// SPDX-License-Identifier: MIT
// How wide standard output is, for what is printed in columns.
#pragma once

#include <cstddef>

#include <sys/ioctl.h>
#include <unistd.h>

namespace monitor {

// 0: it is no terminal, and nothing is cut.
inline std::size_t terminal_width()
{
	winsize size{};
	return ::isatty(STDOUT_FILENO) && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

} // namespace monitor
