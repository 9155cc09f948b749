// SPDX-License-Identifier: MIT
// Rows of an answer of unknown length, printed as they come: an aligned text, CSV or a JSON array of objects.
//
// Used by `monitor query`. Other than a Table (table.h) nothing is kept but the first rows of a text, which set how
// wide its columns are. One thread; the file stays the caller's.
// Invariant: an unknown value is `-` in text, nothing in CSV, null in JSON; no control character reaches a terminal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "table.h"

namespace monitor::report {

using RowCell = std::variant<std::monostate, std::int64_t, double, std::string>;

class RowWriter {
public:
	RowWriter(Format format, std::vector<std::string> columns, std::FILE *to);

	// False: nobody reads any more.
	bool put(std::vector<RowCell> row);
	// After the last row. Throws Error if not all could be written, but not if nobody reads.
	void finish();
	std::uint64_t rows() const { return rows_; }

private:
	static constexpr std::size_t rows_that_set_widths = 1000;

	void begin();
	void put_text(const std::vector<std::string> &texts);
	void put_csv(const std::vector<RowCell> &row);
	void put_json(const std::vector<RowCell> &row);
	void flush_text();
	void write(const std::string &text);

	Format format_;
	std::vector<std::string> columns_;
	std::vector<std::string> keys_; // of JSON: each once
	std::FILE *to_;
	std::vector<std::vector<std::string>> kept_; // texts
	std::vector<std::size_t> widths_;
	std::vector<bool> is_left_; // some value is no number
	bool has_widths_ = false;
	std::uint64_t rows_ = 0;
};

} // namespace monitor::report
