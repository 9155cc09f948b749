// SPDX-License-Identifier: MIT
// A text on standard error, beside an answer. What a user reads there is no result: if it cannot be written, the
// command goes on.
#pragma once

#include <cstdio>
#include <string>

namespace monitor {

inline void print_note(const std::string &text)
{
	std::fputs(text.c_str(), stderr);
}

} // namespace monitor
