// SPDX-License-Identifier: MIT
// A text on standard error, beside an answer. What a user reads there is no result: if it cannot be written, the
// command goes on.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace monitor {

inline void print_note(const std::string &text)
{
	std::fputs(text.c_str(), stderr);
}

// As of fmt::format().
template <class Value, class... Values>
void print_note(fmt::format_string<Value, Values...> text, Value &&value, Values &&...values)
{
	print_note(fmt::format(text, std::forward<Value>(value), std::forward<Values>(values)...));
}

} // namespace monitor
