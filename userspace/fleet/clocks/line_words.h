// SPDX-License-Identifier: MIT
// The words of a line of the collector's text files: clock exchanges and clock loops. Untrusted.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "base/scanner.h"

namespace monitor::fleet {

// Removes and returns the part up to the next space. Between two adjacent spaces there is an empty word.
inline std::string_view next_word(std::string_view &line)
{
	return take_until(line, ' ');
}

// False: the word is not a decimal number.
inline bool parse_number(std::string_view word, std::uint64_t &number)
{
	const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
	return error == std::errc() && end == word.data() + word.size() && !word.empty();
}

} // namespace monitor::fleet
