// SPDX-License-Identifier: MIT
#include "measured_rows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace monitor::live {
namespace {

using RowCells = std::vector<report::Cell>;

// The number of columns before the figures, which both tables have.
std::size_t head_size(const report::Table &rows, const report::Table &measured)
{
	const auto same = [](const report::Column &a, const report::Column &b) { return a.key == b.key; };
	const auto [end, other] = std::ranges::mismatch(rows.columns, measured.columns, same);
	return static_cast<std::size_t>(end - rows.columns.begin());
}

} // namespace

report::Table add_measured(report::Table &rows, report::Table measured)
{
	const std::size_t head = head_size(rows, measured);
	const auto key_of = [head](const RowCells &row) { // without the mark for the recorded command
		return RowCells(row.begin() + 1, row.begin() + static_cast<std::ptrdiff_t>(head));
	};
	struct Found {
		std::vector<std::size_t> rows, measured;
	};
	std::map<RowCells, Found> found;
	for (std::size_t i = 0; i < rows.rows.size(); ++i)
		found[key_of(rows.rows[i])].rows.push_back(i);
	for (std::size_t i = 0; i < measured.rows.size(); ++i)
		found[key_of(measured.rows[i])].measured.push_back(i);
	const auto first = static_cast<std::ptrdiff_t>(head);
	rows.columns.insert(rows.columns.end(), measured.columns.begin() + first, measured.columns.end());
	for (RowCells &row : rows.rows)
		row.resize(rows.columns.size());
	report::Table rest{measured.columns, {}};
	for (auto &[key, at] : found) {
		if (at.rows.size() == 1 && at.measured.size() == 1) {
			RowCells &cells = measured.rows[at.measured[0]];
			std::move(cells.begin() + first, cells.end(),
				  rows.rows[at.rows[0]].end() - (std::ssize(cells) - first));
			continue;
		}
		for (const std::size_t i : at.measured)
			rest.rows.push_back(std::move(measured.rows[i]));
	}
	return rest;
}

void add_virtual(report::Table &rows, const report::VirtualReport *report)
{
	constexpr const char *also_in_rows[] = {"cpu_ns", "waiting_ns", "blocked_ns"};
	if (!report) {
		for (const report::Column &column : report::virtual_columns())
			if (std::ranges::find(also_in_rows, column.key) == std::end(also_in_rows))
				rows.columns.push_back(column);
		for (RowCells &row : rows.rows)
			row.resize(rows.columns.size());
		return;
	}
	const report::Table &all = report->table();
	report::Table added;
	std::vector<std::size_t> indices;
	for (std::size_t i = 0; i < all.columns.size(); ++i)
		if (std::ranges::find(also_in_rows, all.columns[i].key) == std::end(also_in_rows)) {
			added.columns.push_back(all.columns[i]);
			indices.push_back(i);
		}
	for (const RowCells &row : all.rows) {
		RowCells &cells = added.rows.emplace_back();
		for (const std::size_t index : indices)
			cells.push_back(row[index]);
	}
	add_measured(rows, std::move(added));
}

} // namespace monitor::live
