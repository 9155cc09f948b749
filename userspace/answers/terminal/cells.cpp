// SPDX-License-Identifier: MIT
#include "cells.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/encoding.h"

namespace monitor::terminal {
namespace {

// Letters of one column, left to right and not combining: Latin, Greek, Cyrillic.
bool is_simple(char32_t c)
{
	const bool is_letter_of_europe = c >= 0xa1 && c < 0x530;
	const bool combines = (c >= 0x300 && c < 0x370) || (c >= 0x483 && c < 0x48a);
	return (c >= 0x20 && c < 0x7f) || (is_letter_of_europe && !combines && c != 0xad);
}

// Removes and returns the first character of `text`; a byte where it is not UTF-8.
char32_t take_character(std::string_view &text, bool &is_byte)
{
	const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
	const unsigned first = byte(0);
	const unsigned length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	char32_t character = first < 0x80 ? first : first & (0xffu >> (length + 1));
	is_byte = length > text.size() || (first >= 0x80 && first < 0xc2) || first > 0xf4;
	for (unsigned i = 1; i < length && !is_byte; ++i) {
		is_byte = (byte(i) & 0xc0) != 0x80;
		character = character << 6 | (byte(i) & 0x3f);
	}
	constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	is_byte =
	    is_byte || character < least[length] || character > 0x10ffff || (character >= 0xd800 && character < 0xe000);
	text.remove_prefix(is_byte ? 1 : length);
	return is_byte ? first : character;
}

// One character per column.
std::u32string columns_of(std::string_view text, bool is_utf8)
{
	std::u32string columns;
	while (!text.empty() && columns.size() <= Cells::max_columns) {
		bool is_byte = false;
		const char32_t character = take_character(text, is_byte);
		if (!is_byte && is_simple(character) && (is_utf8 || character < 0x80)) {
			columns += character;
			continue;
		}
		const auto number = static_cast<std::uint32_t>(character);
		const std::string escaped =
		    is_byte || number < 0x80 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{{{:x}}}", number);
		columns.append(escaped.begin(), escaped.end());
	}
	return columns;
}

char32_t ascii_of(char32_t character)
{
	struct Pair {
		char32_t symbol, ascii;
	};
	constexpr Pair pairs[] = {{U'─', '-'}, {U'│', '|'}, {U'┌', '+'}, {U'┐', '+'}, {U'└', '+'},
				  {U'┘', '+'}, {U'→', '>'}, {U'←', '<'}, {U'↓', 'v'}, {U'↑', '^'},
				  {U'●', 'o'}, {U'·', '.'}, {U'…', '~'}};
	const auto *found = std::ranges::find(pairs, character, &Pair::symbol);
	return found != std::end(pairs) ? found->ascii : character < 0x80 ? character : U'?';
}

} // namespace

void remove_last_character(std::string &utf8)
{
	while (!utf8.empty() && (static_cast<unsigned char>(utf8.back()) & 0xc0) == 0x80)
		utf8.pop_back();
	if (!utf8.empty())
		utf8.pop_back();
}

unsigned width_of(std::string_view untrusted_text, bool is_utf8)
{
	return static_cast<unsigned>(columns_of(untrusted_text, is_utf8).size());
}

Cells::Cells(unsigned rows, unsigned columns, bool is_utf8)
    : rows_(std::min(rows, max_rows)), columns_(std::min(columns, max_columns)), is_utf8_(is_utf8),
      cells_(std::size_t(rows_) * columns_)
{
}

void Cells::symbol(unsigned row, unsigned column, char32_t character, Look look)
{
	if (row < rows_ && column < columns_)
		cells_[row * columns_ + column] = {is_utf8_ ? character : ascii_of(character), look};
}

void Cells::line(unsigned row, unsigned column, unsigned count, char32_t character, Look look)
{
	for (unsigned i = 0; i < count; ++i)
		symbol(row, column + i, character, look);
}

unsigned Cells::text(unsigned row, unsigned column, std::string_view untrusted_text, Look look, unsigned width)
{
	const std::u32string shown = columns_of(untrusted_text, is_utf8_);
	const unsigned space = std::min(width, columns_ - std::min(column, columns_));
	const auto count = static_cast<unsigned>(std::min<std::size_t>(shown.size(), space));
	for (unsigned i = 0; i < count; ++i)
		symbol(row, column + i, shown[i], look);
	if (count > 0 && shown.size() > space)
		symbol(row, column + count - 1, U'…', look);
	return column + count;
}

std::string Cells::as_text() const
{
	std::string text;
	for (unsigned row = 0; row < rows_; ++row) {
		unsigned end = columns_;
		while (end > 0 && at(row, end - 1).character == U' ')
			--end;
		for (unsigned column = 0; column < end; ++column)
			append_utf8(text, at(row, column).character);
		text += '\n';
	}
	return text;
}

} // namespace monitor::terminal
