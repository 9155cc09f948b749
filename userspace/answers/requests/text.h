// SPDX-License-Identifier: MIT
// An answer in sentences: the slowest requests, and what no row can show.
#pragma once

#include <string>

#include "answer.h"

namespace monitor::requests {

// Above the table: how many requests there are, of how many hosts.
std::string head_text(const Answer &answer);
// After an empty line a line for each: its key, its time, and which step took most of it, each with its bound.
std::string slowest_text(const Answer &answer);
// Below: what the bounds mean, what is left out, what contradicts.
std::string notes_text(const Answer &answer);

} // namespace monitor::requests
