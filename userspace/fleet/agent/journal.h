// SPDX-License-Identifier: MIT
// What the agent says, on standard error, to the journal. Used by all its parts.
#pragma once

#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "base/escape.h"

namespace monitor::agent {

// "monitor agent: SENTENCE". What it quotes is escaped. If it cannot be written, the agent goes on.
inline void say(const std::string &sentence)
{
	std::fputs(fmt::format("monitor agent: {}\n", printable(sentence)).c_str(), stderr);
}

} // namespace monitor::agent
