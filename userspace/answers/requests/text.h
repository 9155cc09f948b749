// SPDX-License-Identifier: MIT
// An answer as text: the slowest requests, and notes on what no row can show.
#pragma once

#include <string>

#include "answer.h"

namespace monitor::requests {

// Above the table: the number of requests and of hosts.
std::string head_text(const Answer &answer);
// After an empty line, a line per request: its key, its time, and its longest step, with bounds.
std::string slowest_text(const Answer &answer);
// Below: the meaning of bounds, what is left out, contradictions.
std::string notes_text(const Answer &answer);

} // namespace monitor::requests
