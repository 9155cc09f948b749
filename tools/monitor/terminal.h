// SPDX-License-Identifier: MIT
// Width of the terminal at standard output, and whether it shows Unicode. For columns and plots.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

#include <sys/ioctl.h>
#include <unistd.h>

namespace monitor {

// COLUMNS of the environment, or the terminal's width. 0: not a terminal; lines are not truncated.
inline std::size_t terminal_width()
{
	if (const char *columns = std::getenv("COLUMNS"))
		if (const unsigned long width = std::strtoul(columns, nullptr, 10); width > 0 && width < 10'000)
			return width;
	winsize size{};
	return ::isatty(STDOUT_FILENO) && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// By the locale's name: the locale itself may not be installed.
inline bool locale_is_utf8()
{
	for (const char *variable : {"LC_ALL", "LC_CTYPE", "LANG"})
		if (const char *value = std::getenv(variable); value && *value) {
			const std::string name = value;
			return name.find("UTF-8") != std::string::npos || name.find("utf8") != std::string::npos ||
			       name.find("utf-8") != std::string::npos || name.find("UTF8") != std::string::npos;
		}
	return false;
}

} // namespace monitor
