// SPDX-License-Identifier: MIT
// A note on standard error, beside an answer on standard output. Errors of writing it are ignored.
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

// Arguments as for fmt::format().
template <class Value, class... Values>
void print_note(fmt::format_string<Value, Values...> text, Value &&value, Values &&...values)
{
	print_note(fmt::format(text, std::forward<Value>(value), std::forward<Values>(values)...));
}

} // namespace monitor
