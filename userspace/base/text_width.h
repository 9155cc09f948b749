// SPDX-License-Identifier: MIT
// How many columns of a terminal a text takes: two for a character of East Asian scripts or an emoji, none for one that
// combines with the character before it. As the C library says, for the locale of the terminal if that has UTF-8.
//
// Used by all that aligns text: tables, plots, carets below errors. Any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace monitor {

// Of UTF-8 without control characters; what is none, or unknown to the library, takes a column.
std::size_t text_width(std::string_view text);
// The number of bytes of `text` that fit into `columns` columns, in whole characters.
std::size_t bytes_within(std::string_view text, std::size_t columns);

} // namespace monitor
