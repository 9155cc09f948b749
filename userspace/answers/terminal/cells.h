// SPDX-License-Identifier: MIT
// The content of a terminal: rows and columns of coloured characters. Printed as text, or shown by screen.cpp.
// Names of threads may be any bytes. Invariant: each cell is one column wide on every terminal: control, wide,
// combining and right-to-left characters are escaped.
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

	// `is_utf8`: false: drawing characters are replaced by ASCII.
	Cells(unsigned rows, unsigned columns, bool is_utf8);

	unsigned rows() const { return rows_; }
	unsigned columns() const { return columns_; }
	const Cell &at(unsigned row, unsigned column) const { return cells_[row * columns_ + column]; }

	// Writes untrusted text, and returns the column after it. Text that does not fit is cut, with a mark at the
	// end; `width`: of the available space, at most up to the right edge.
	unsigned text(unsigned row, unsigned column, std::string_view untrusted_text, Look look = {},
		      unsigned width = max_columns);
	// A drawing character, see ascii_of(). No effect outside of the cells.
	void symbol(unsigned row, unsigned column, char32_t character, Look look = {});
	// `count` equal characters to the right.
	void line(unsigned row, unsigned column, unsigned count, char32_t character, Look look = {});

	// In UTF-8, without trailing blanks.
	std::string as_text() const;

private:
	unsigned rows_, columns_;
	bool is_utf8_;
	std::vector<Cell> cells_;
};

// The columns that text() needs for the whole text.
unsigned width_of(std::string_view untrusted_text, bool is_utf8);
void remove_last_character(std::string &utf8);

} // namespace monitor::terminal
