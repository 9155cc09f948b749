// SPDX-License-Identifier: MIT
// Splits a text at separators outside of quotes and brackets.
//
// The text is untrusted and must outlive the object.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace monitor {

// The parts of a text that are outside of quotes and brackets.
class Outside {
public:
	static constexpr std::size_t npos = std::string_view::npos;

	struct Part {
		std::string_view separator; // before this part; "": the first part
		std::size_t at;
		std::string text; // without blanks around it
	};

	// Quotes are "...", '...' and `...`, with \ before any byte, brackets ( ) and { }.
	explicit Outside(std::string_view untrusted_text);

	// npos: not found. Matches whole words, with any blanks between them.
	std::size_t find(std::string_view what) const;
	// Splits at any of these.
	std::vector<Part> split(std::initializer_list<std::string_view> separators) const;
	// Position of an unclosed quote.
	std::size_t open_quote() const { return open_quote_; }
	// Position of the outermost unclosed bracket.
	std::size_t open_bracket() const { return open_bracket_; }

private:
	// The end of a match of `what` that begins at `at`; npos: none.
	std::size_t match_end(std::string_view what, std::size_t at) const;
	Part part(std::string_view separator, std::size_t begin, std::size_t end) const;

	std::string_view text_;
	std::vector<bool> is_outside_; // by byte
	std::size_t open_quote_ = npos, open_bracket_ = npos;
};

} // namespace monitor
