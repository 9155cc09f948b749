// SPDX-License-Identifier: MIT
#include "rows.h"

#include <algorithm>

namespace monitor::activities {

void Rows::join_processes(const ThreadTable &threads)
{
	const auto is_process = [](const Cell &cell) { return cell.kind == Cell::Kind::process; };
	const auto has_process = [&](const auto &row) { return std::ranges::any_of(row.second.cells, is_process); };
	if (std::ranges::none_of(rows_, has_process))
		return;
	Rows joined;
	for (auto &[key, row] : rows_) {
		std::string text;
		for (Cell &cell : row.cells) {
			if (is_process(cell))
				cell.bits = static_cast<std::uint64_t>(
				    threads.process(cell.machine, static_cast<std::int64_t>(cell.bits)));
			cell.append(text);
		}
		joined.find(text, [&row = row] { return row.cells; })->values.merge(row.values);
	}
	joined.left_out_ = left_out_;
	*this = std::move(joined);
}

} // namespace monitor::activities
