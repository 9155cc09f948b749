// SPDX-License-Identifier: MIT
// An answer as JSON: rows, the slowest requests with all their steps, and what is left out. Times and bounds are in ns;
// unknown values are null.
#pragma once

#include <string>

#include "answer.h"
#include "answers/report/table.h"

namespace monitor::requests {

// `rows`: from table(), sorted and cut.
std::string json_text(const Answer &answer, const report::Table &rows);

} // namespace monitor::requests
