// SPDX-License-Identifier: MIT
// Rows of an answer of unknown length, printed as they come: aligned text, CSV or a JSON array of objects.
//
// Unlike a Table (table.h) it buffers only the first rows of a text, to set the widths of its columns. One thread; the
// caller keeps ownership of the file. Invariant: an unknown value is `-` in text, nothing in CSV, null in JSON; no
// control character reaches a terminal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "table.h"

namespace monitor::report {

using RowCell = std::variant<std::monostate, std::int64_t, double, std::string>;

class RowWriter {
public:
	RowWriter(Format format, std::vector<std::string> columns, std::FILE *to);

	// False: the reader has closed the pipe.
	bool put(std::vector<RowCell> row);
	// After the last row. Throws Error if not everything could be written, unless the reader has closed the pipe.
	void finish();
	std::uint64_t rows() const { return rows_; }

private:
	static constexpr std::size_t max_buffered = 1000;

	void begin();
	void put_text(const std::vector<std::string> &texts);
	void put_csv(const std::vector<RowCell> &row);
	void put_json(const std::vector<RowCell> &row);
	void flush_text();
	void write(const std::string &text);

	Format format_;
	std::vector<std::string> columns_;
	std::vector<std::string> keys_; // for JSON: unique
	std::FILE *to_;
	std::vector<std::vector<std::string>> buffered_; // printed cells
	std::vector<std::size_t> widths_;
	std::vector<bool> is_left_aligned_; // a value is not a number
	bool has_widths_ = false;
	std::uint64_t rows_ = 0;
};

} // namespace monitor::report
