// SPDX-License-Identifier: MIT
#include "rows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace monitor::view {

Rows::Rows(const Timeline &timeline, std::size_t max_threads) : row_of_(timeline.threads().size())
{
	std::vector<std::uint32_t> indices(row_of_.size());
	std::iota(indices.begin(), indices.end(), std::uint32_t{0});
	const auto own = indices.begin() + static_cast<std::ptrdiff_t>(std::min(indices.size(), max_threads));
	if (own != indices.end()) {
		std::vector<std::pair<std::uint64_t, std::uint64_t>> ran_and_waited;
		for (const ThreadLanes &thread : timeline.threads())
			ran_and_waited.emplace_back(thread.ran(), thread.waits.busy());
		const auto ticks = [&](std::uint32_t index) { return ran_and_waited[index]; };
		std::ranges::nth_element(indices, own, std::ranges::greater(), ticks);
		std::sort(indices.begin(), own);
	}
	for (auto index = indices.begin(); index != own; ++index)
		rows_.push_back({*index});
	std::map<std::string, std::size_t> commands; // rows for other threads
	for (auto index = own; index != indices.end(); ++index) {
		auto command = commands.find(timeline.threads()[*index].name);
		if (command == commands.end()) {
			if (commands.size() <= max_commands)
				rows_.emplace_back(); // the last one is for all further commands
			command = commands.emplace(timeline.threads()[*index].name, rows_.size() - 1).first;
		}
		rows_[command->second].push_back(*index);
	}
	for (std::uint32_t row = 0; row < rows_.size(); ++row)
		for (const std::uint32_t index : rows_[row])
			row_of_[index] = row;
}

} // namespace monitor::view
