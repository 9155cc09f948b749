// SPDX-License-Identifier: MIT
// The width of a text in terminal columns: two for East Asian characters and emoji, none for combining ones, according
// to the C library (wcwidth(3)), in the terminal's locale if that is UTF-8.
//
// Any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace monitor {

// Of UTF-8 without control characters; an invalid byte or unknown character counts as one column.
std::size_t text_width(std::string_view text);
// The number of bytes of `text` that fit into `columns` columns, in whole characters.
std::size_t bytes_within(std::string_view text, std::size_t columns);

} // namespace monitor
