// SPDX-License-Identifier: MIT
// The rows of an answer as tables: for text, with readable names and bounds; for JSON and CSV, with all figures.
#pragma once

#include <string>

#include "answer.h"
#include "answers/report/table.h"

namespace monitor::requests {

enum class By { step, host };

report::Table table(const Answer &answer, By by);
// "step", "requests", ..., and the bound as text.
report::Table text_table(const Answer &answer, By by);

// The hosts on the paths of requests.
std::vector<std::string> hosts_of(const Answer &answer);
// "db1 query", or "query" if there is one host only.
std::string point_text(const Answer &answer, std::uint32_t point);
// "exact", "±41.2 us", or "unknown".
std::string bound_text(const Elapsed &time);
// "-12.3 us"
std::string time_text(std::int64_t ns);

} // namespace monitor::requests
