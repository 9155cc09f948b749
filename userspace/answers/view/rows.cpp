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
	std::vector<std::uint32_t> places(row_of_.size());
	std::iota(places.begin(), places.end(), std::uint32_t{0});
	const auto own = places.begin() + static_cast<std::ptrdiff_t>(std::min(places.size(), max_threads));
	if (own != places.end()) {
		std::vector<std::pair<std::uint64_t, std::uint64_t>> ran_and_waited;
		for (const ThreadLanes &thread : timeline.threads())
			ran_and_waited.emplace_back(thread.ran(), thread.waits.busy());
		const auto ticks = [&](std::uint32_t place) { return ran_and_waited[place]; };
		std::ranges::nth_element(places, own, std::ranges::greater(), ticks);
		std::sort(places.begin(), own);
	}
	for (auto place = places.begin(); place != own; ++place)
		rows_.push_back({*place});
	std::map<std::string, std::size_t> commands; // rows for other threads
	for (auto place = own; place != places.end(); ++place) {
		auto command = commands.find(timeline.threads()[*place].name);
		if (command == commands.end()) {
			if (commands.size() <= max_commands)
				rows_.emplace_back(); // the last one is for all further commands
			command = commands.emplace(timeline.threads()[*place].name, rows_.size() - 1).first;
		}
		rows_[command->second].push_back(*place);
	}
	for (std::uint32_t row = 0; row < rows_.size(); ++row)
		for (const std::uint32_t place : rows_[row])
			row_of_[place] = row;
}

} // namespace monitor::view
