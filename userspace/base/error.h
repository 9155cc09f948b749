// SPDX-License-Identifier: MIT
// The exception for all set-up and I/O errors: its message is one sentence, with the remedy if there is one. Thrown by
// every library of userspace/, caught once in tools/monitor/main.cpp.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace monitor {

// what(): "MESSAGE: strerror" for system errors, MESSAGE alone for errno 0.
class Error : public std::system_error {
public:
	Error(int error_number, const std::string &sentence)
	    : std::system_error(error_number, std::generic_category(), sentence),
	      text_(error_number ? std::system_error::what() : sentence)
	{
	}
	explicit Error(const std::string &sentence) : Error(0, sentence) {}
	// Arguments as for fmt::format().
	template <class Value, class... Values>
	explicit Error(fmt::format_string<Value, Values...> sentence, Value &&value, Values &&...values)
	    : Error(fmt::format(sentence, std::forward<Value>(value), std::forward<Values>(values)...))
	{
	}

	const char *what() const noexcept override { return text_.c_str(); }

private:
	std::string text_;
};

} // namespace monitor
