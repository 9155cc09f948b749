// SPDX-License-Identifier: MIT
// What is shown in a terminal: rows and columns of characters with a colour. Drawn by answers/play/ and answers/live/;
// printed as text, and shown by screen.cpp.
//
// Names of threads can be any bytes. Invariant: each cell is one column wide on every terminal: control characters,
// wide ones, combining ones and scripts that run from right to left are escaped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monitor::terminal {

enum class Colour : std::uint8_t { plain, red, green, yellow, blue, magenta, cyan };
constexpr unsigned colours = 7;

struct Look {
	Colour colour = Colour::plain;
	bool is_bold = false, is_dim = false, is_reverse = false;

	bool operator==(const Look &) const = default;
};

struct Cell {
	char32_t character = U' ';
	Look look = {};

	bool operator==(const Cell &) const = default;
};

class Cells {
public:
	static constexpr unsigned max_rows = 500, max_columns = 1000;

	// `is_utf8`: else the characters of drawings are replaced by ASCII ones.
	Cells(unsigned rows, unsigned columns, bool is_utf8);

	unsigned rows() const { return rows_; }
	unsigned columns() const { return columns_; }
	const Cell &at(unsigned row, unsigned column) const { return cells_[row * columns_ + column]; }

	// Writes untrusted text, and returns the column after it. What does not fit is left out, and a mark at the end
	// says so; `width`: of the space that the text has, at most up to the right edge.
	unsigned text(unsigned row, unsigned column, std::string_view untrusted_text, Look look = {},
		      unsigned width = max_columns);
	// A character of a drawing, see ascii_of(). Outside of the cells: nothing.
	void symbol(unsigned row, unsigned column, char32_t character, Look look = {});
	// `count` times the same, to the right.
	void line(unsigned row, unsigned column, unsigned count, char32_t character, Look look = {});

	// UTF-8; lines end with a newline and have no blanks before it.
	std::string as_text() const;

private:
	unsigned rows_, columns_;
	bool is_utf8_;
	std::vector<Cell> cells_;
};

// The columns that text() writes if there is space for all of it.
unsigned width_of(std::string_view untrusted_text, bool is_utf8);
void append_utf8(std::string &text, char32_t character);
void remove_last_character(std::string &utf8);

} // namespace monitor::terminal
