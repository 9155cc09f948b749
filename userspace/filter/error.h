// SPDX-License-Identifier: MIT
// What is wrong with an expression, and where: one sentence, the expression, and a caret below the place.
//
// Thrown by the lexer, the parser and the check of names; caught as an Error by whoever asked for the filter.
// Invariant: what() shows the expression without control characters, whatever bytes it has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace monitor::filter {

class FilterError : public Error {
public:
	// `at`: the byte of the expression at which it goes wrong, its length at the end.
	FilterError(std::string_view expression, std::size_t at, const std::string &sentence);

	// From 1, in characters.
	std::size_t column() const { return column_; }
	// Without the column, the expression and the caret.
	const std::string &sentence() const { return sentence_; }

private:
	std::size_t column_;
	std::string sentence_;
};

} // namespace monitor::filter
