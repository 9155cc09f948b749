// SPDX-License-Identifier: MIT
// Occupies descriptors 0 to 2 if the program was started with some of them closed (cron jobs, daemons): otherwise files
// opened later would get their numbers, and messages would go into a trace. Call it before anything is opened.
#pragma once

#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace monitor {

// Reads and writes of the substitute fail as with a closed descriptor, so that a lost answer is an error. An executed
// command finds it closed.
inline void occupy_standard_descriptors()
{
	for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
		if (::fcntl(number, F_GETFD) < 0)
			static_cast<void>(::open("/", O_PATH | O_CLOEXEC)); // gets the lowest number that is free
}

// For commands whose answer is a file or a trace: drops text on standard output if that was closed.
inline void drop_text_if_stdout_closed()
{
	if ((::fcntl(STDOUT_FILENO, F_GETFL) & O_PATH) != 0)
		static_cast<void>(std::freopen("/dev/null", "w", stdout));
}

} // namespace monitor
