// SPDX-License-Identifier: MIT
// What is wrong with an expression, and where: one sentence, the expression, and a caret below the position.
//
// Thrown by the lexer, the parser and the check of names; caught as an Error by the caller that made the filter.
// Invariant: what() shows the expression without control characters, whatever bytes it contains.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace monitor::filter {

class FilterError : public Error {
public:
	// `at`: byte offset of the error in the expression; the expression's length if the error is at its end.
	FilterError(std::string_view expression, std::size_t at, const std::string &sentence);

	// In characters, starting at 1.
	std::size_t column() const { return column_; }
	// Without the column, the expression and the caret.
	const std::string &sentence() const { return sentence_; }

private:
	std::size_t column_;
	std::string sentence_;
};

} // namespace monitor::filter
