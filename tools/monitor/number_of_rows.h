// SPDX-License-Identifier: MIT
// Checks an option that limits the rows of an answer: --top, --violations.
#pragma once

#include <string>

namespace monitor {

// What is wrong with the text, or "". CLI11 would accept -1 as the largest number.
inline std::string number_of_rows(const std::string &text)
{
	constexpr std::size_t max_digits = 18;
	return text.find_first_not_of("0123456789") == std::string::npos && text.size() <= max_digits
		   ? std::string()
		   : "'" + text + "' is not a number of rows";
}

} // namespace monitor
