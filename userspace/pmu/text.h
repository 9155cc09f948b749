// SPDX-License-Identifier: MIT
// Helper for text that users write. Used by the parsers of groups and of -m.
#pragma once

#include <string>

namespace monitor::pmu {

inline std::string trimmed(const std::string &text)
{
	const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
	return first == std::string::npos ? "" : text.substr(first, last + 1 - first);
}

} // namespace monitor::pmu
