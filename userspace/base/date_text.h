// SPDX-License-Identifier: MIT
// Seconds since 1970 as text, in a format of strftime(3); "" if out of range.
#pragma once

#include <cstdint>
#include <string>

namespace monitor {

std::string local_date(std::int64_t seconds, const char *format);
std::string utc_date(std::int64_t seconds, const char *format);

} // namespace monitor
