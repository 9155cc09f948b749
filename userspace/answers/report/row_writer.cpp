// SPDX-License-Identifier: MIT
#include "row_writer.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/text_width.h"

namespace monitor::report {
namespace {

bool is_number(const RowCell &cell)
{
	return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

std::string text_of(const RowCell &cell)
{
	if (const auto *number = std::get_if<std::int64_t>(&cell))
		return std::to_string(*number);
	if (const auto *real = std::get_if<double>(&cell))
		return fmt::format("{:.12g}", *real);
	const auto *text = std::get_if<std::string>(&cell);
	return text ? printable(*text) : "-";
}

std::string csv_of(const RowCell &cell)
{
	if (const auto *real = std::get_if<double>(&cell))
		return fmt::format("{}", *real);
	const auto *text = std::get_if<std::string>(&cell);
	if (!text)
		return std::holds_alternative<std::monostate>(cell) ? "" : text_of(cell);
	return csv_text(*text);
}

std::string json_of(const RowCell &cell)
{
	if (const auto *real = std::get_if<double>(&cell))
		return std::isfinite(*real) ? fmt::format("{}", *real) : fmt::format("\"{}\"", *real);
	if (const auto *text = std::get_if<std::string>(&cell))
		return json_text(*text);
	return std::holds_alternative<std::monostate>(cell) ? "null" : text_of(cell);
}

} // namespace

RowWriter::RowWriter(Format format, std::vector<std::string> columns, std::FILE *to)
    : format_(format), columns_(std::move(columns)), to_(to), is_left_aligned_(columns_.size())
{
	std::set<std::string> known;
	for (const std::string &name : columns_) {
		std::string key = name;
		for (int number = 2; !known.insert(key).second; ++number)
			key = fmt::format("{}:{}", name, number);
		keys_.push_back(json_text(key) + ": ");
		widths_.push_back(text_width(printable(name)));
	}
}

void RowWriter::write(const std::string &text)
{
	std::fwrite(text.data(), 1, text.size(), to_);
}

void RowWriter::begin()
{
	if (format_ == Format::json)
		write("[");
	std::string line;
	for (const std::string &name : columns_)
		line += (line.empty() ? "" : ",") + csv_name(name);
	if (format_ == Format::csv)
		write(line + "\n");
}

bool RowWriter::put(std::vector<RowCell> row)
{
	if (rows_++ == 0)
		begin();
	if (format_ == Format::csv) {
		put_csv(row);
	} else if (format_ == Format::json) {
		put_json(row);
	} else {
		std::vector<std::string> texts;
		for (std::size_t i = 0; i < row.size(); ++i) {
			texts.push_back(text_of(row[i]));
			if (has_widths_)
				continue;
			widths_[i] = std::max(widths_[i], text_width(texts[i]));
			is_left_aligned_[i] = is_left_aligned_[i] || (!is_number(row[i]) && texts[i] != "-");
		}
		if (has_widths_)
			put_text(texts);
		else
			buffered_.push_back(std::move(texts));
		if (buffered_.size() >= max_buffered)
			flush_text();
	}
	return std::ferror(to_) == 0;
}

void RowWriter::put_text(const std::vector<std::string> &texts)
{
	std::string line;
	for (std::size_t i = 0; i < texts.size(); ++i) {
		const std::string pad(widths_[i] - std::min(widths_[i], text_width(texts[i])), ' ');
		line += (i ? "  " : "") + (is_left_aligned_[i] ? texts[i] + pad : pad + texts[i]);
	}
	line.erase(line.find_last_not_of(' ') + 1);
	write(line + "\n");
}

void RowWriter::flush_text()
{
	if (!std::exchange(has_widths_, true)) {
		std::vector<std::string> titles;
		for (const std::string &name : columns_)
			titles.push_back(printable(name));
		put_text(titles);
	}
	for (const auto &texts : buffered_)
		put_text(texts);
	buffered_.clear();
}

void RowWriter::put_csv(const std::vector<RowCell> &row)
{
	std::string line;
	for (std::size_t i = 0; i < row.size(); ++i)
		line += (i ? "," : "") + csv_of(row[i]);
	write(line + "\n");
}

void RowWriter::put_json(const std::vector<RowCell> &row)
{
	std::string line = rows_ == 1 ? "\n\t{" : ",\n\t{";
	for (std::size_t i = 0; i < row.size(); ++i)
		line += (i ? ", " : "") + keys_[i] + json_of(row[i]);
	write(line + "}");
}

void RowWriter::finish()
{
	if (rows_ == 0)
		begin();
	if (format_ == Format::text)
		flush_text();
	if (format_ == Format::json)
		write(rows_ == 0 ? "]\n" : "\n]\n");
	errno = 0;
	if (std::fflush(to_) != 0 && errno != EPIPE)
		throw Error(errno, "cannot write the output");
}

} // namespace monitor::report
