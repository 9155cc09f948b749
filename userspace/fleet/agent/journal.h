// SPDX-License-Identifier: MIT
// Messages of the agent on standard error, for the journal.
#pragma once

#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "base/escape.h"

namespace monitor::agent {

// Prints "monitor agent: MESSAGE", escaped. Errors are ignored.
inline void log_message(const std::string &sentence)
{
	std::fputs(fmt::format("monitor agent: {}\n", printable(sentence)).c_str(), stderr);
}

} // namespace monitor::agent
