// SPDX-License-Identifier: MIT
#include "backwards.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace monitor::requests {
namespace {

constexpr std::uint64_t min_ratio = 10;        // required for a usual direction
constexpr std::size_t max_steps_of_event = 16; // examined

// The usual steps between hosts, by their first point: indices into `found`.
std::unordered_map<std::uint32_t, std::vector<std::size_t>>
usual_steps(const std::vector<StepTotals> &steps, const std::vector<Point> &points, std::vector<Backwards> &found)
{
	std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_point;
	for (const StepTotals &row : steps) {
		const std::uint64_t forward = row.count - row.order_unknown;
		auto &next_steps = by_point[row.from];
		if (points[row.from].machine == points[row.to].machine || forward < min_ratio ||
		    next_steps.size() >= max_steps_of_event)
			continue;
		next_steps.push_back(found.size());
		found.push_back({row.from, row.to, forward, 0});
	}
	return by_point;
}

} // namespace

std::vector<Backwards> find_backwards(const std::vector<StepTotals> &steps, const Collected &collected,
				      const PathMaker &maker)
{
	std::vector<Backwards> found;
	const auto usual = usual_steps(steps, collected.points, found);
	if (found.empty())
		return found;
	for (const Request &request : collected.requests) {
		std::map<std::uint32_t, const EventInterval *> once; // by point; nullptr: occurs several times
		const std::vector<EventInterval> events = maker.intervals_of(request.events);
		for (const EventInterval &event : events) {
			const auto [found_event, is_new] = once.try_emplace(event.event.point, &event);
			if (!is_new)
				found_event->second = nullptr;
		}
		for (const auto &[point, from] : once) {
			const auto next_steps = usual.find(point);
			if (!from || next_steps == usual.end())
				continue;
			for (const std::size_t number : next_steps->second) {
				const auto to = once.find(found[number].to);
				found[number].requests +=
				    to != once.end() && to->second && to->second->is_before(*from);
			}
		}
	}
	std::erase_if(found, [](const Backwards &each) {
		return each.requests == 0 || each.requests * min_ratio > each.forward;
	});
	std::ranges::stable_sort(found, [](const auto &a, const auto &b) { return a.requests > b.requests; });
	return found;
}

} // namespace monitor::requests
