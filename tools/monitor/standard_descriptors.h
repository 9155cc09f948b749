// SPDX-License-Identifier: MIT
// A program may be started with standard input, output or error closed (cron jobs, daemons). Nothing that it opens may
// get their numbers: messages would go into a trace, or a trace into nowhere. Called by main() before anything is
// opened.
#pragma once

#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace monitor {

// Reading and writing what takes the place of a closed one fails as it does with the closed one, so that an answer that
// nobody gets is an error. A command that is executed finds it closed.
inline void occupy_standard_descriptors()
{
	for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
		if (::fcntl(number, F_GETFD) < 0)
			static_cast<void>(::open("/", O_PATH | O_CLOEXEC)); // gets the lowest number that is free
}

// Where the answer is a file, or a trace: what is printed beside it goes nowhere if there was no standard output.
inline void print_beside_answer()
{
	if ((::fcntl(STDOUT_FILENO, F_GETFL) & O_PATH) != 0)
		static_cast<void>(std::freopen("/dev/null", "w", stdout));
}

} // namespace monitor
