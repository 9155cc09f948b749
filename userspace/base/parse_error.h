// SPDX-License-Identifier: MIT
// Parse errors, with their position in the text.
//
// Thrown by the parsers of descriptions (TSDL, TDL), expressions (FDL) and formulas. The caller of a parser catches it
// and adds what only the caller knows, such as the name of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "error.h"

namespace monitor {

struct TextPosition {
	std::uint32_t line = 1, column = 1; // from 1; a column is a byte
	std::uint32_t offset = 0;           // in bytes, of the whole text

	bool is_before(const TextPosition &other) const { return offset < other.offset; }
	// Further on in the same line
	TextPosition plus(std::size_t bytes) const
	{
		const auto more = static_cast<std::uint32_t>(bytes);
		return {line, column + more, offset + more};
	}
	// "line 3, column 7"
	std::string in_words() const { return "line " + std::to_string(line) + ", column " + std::to_string(column); }
	// "3:7", after the name of a file
	std::string in_numbers() const { return std::to_string(line) + ':' + std::to_string(column); }
};

class ParseError : public Error {
public:
	// what() is the message.
	ParseError(TextPosition position, const std::string &sentence) : ParseError(position, sentence, sentence) {}
	// For a text of one line, which what() shows with a caret below the byte `at`: "SUBJECT, column C: SENTENCE",
	// then two lines without control characters. This column is a character.
	ParseError(const std::string &subject, std::string_view untrusted_text, std::size_t at,
		   const std::string &sentence);

	TextPosition position() const { return position_; }
	const std::string &sentence() const { return sentence_; }

private:
	ParseError(TextPosition position, const std::string &sentence, const std::string &message)
	    : Error(message), position_(position), sentence_(sentence)
	{
	}

	TextPosition position_;
	std::string sentence_;
};

} // namespace monitor
