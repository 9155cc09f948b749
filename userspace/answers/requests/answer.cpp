// SPDX-License-Identifier: MIT
#include "answer.h"

#include <algorithm>
#include <utility>

#include "host_times.h"

namespace monitor::requests {
namespace {

bool repeats_first_event(const Path &path)
{
	return std::ranges::any_of(path.steps, [&](const Step &step) { return step.to == path.events.front().point; });
}

// Sorted by descending time; of equal ones the earlier first.
void keep_slowest(std::vector<std::pair<std::int64_t, std::size_t>> &times, std::size_t wanted)
{
	const auto end = times.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, times.size()));
	std::partial_sort(times.begin(), end, times.end(), [](const auto &a, const auto &b) {
		return a.first != b.first ? a.first > b.first : a.second < b.second;
	});
	times.erase(end, times.end());
}

} // namespace

Answer answer(Collected &&collected, const PathMaker &maker, std::size_t slowest)
{
	Answer made;
	Totals steps, by_host;
	std::vector<std::pair<std::int64_t, std::size_t>> times; // with the request's index
	for (std::size_t i = 0; i < collected.requests.size(); ++i) {
		const Request &request = collected.requests[i];
		if (request.events.size() < 2) {
			++made.single;
			continue;
		}
		const Path path = maker.path(request.events);
		const bool is_known = path.total.is_known();
		++made.requests;
		made.events += path.events.size();
		made.unknown_time += !is_known;
		made.again += repeats_first_event(path);
		made.total_ns += is_known ? path.total.ns : 0;
		if (is_known)
			times.emplace_back(path.total.ns, i);
		for (const Step &step : path.steps)
			steps.add(i, step.from, step.to, step.time, step.is_order_known, is_known);
		for (const HostTime &part : host_times(path, maker))
			by_host.add(i, part.host, part.other, part.time, part.is_order_known, is_known);
	}
	made.steps_left_out = steps.left_out();
	made.steps = steps.finish();
	made.by_host = by_host.finish();
	keep_slowest(times, slowest);
	for (const auto &[ns, number] : times)
		made.slowest.push_back({collected.requests[number].key, maker.path(collected.requests[number].events)});
	made.backwards = find_backwards(made.steps, collected, maker);
	made.points = collected.points;
	collected.requests = {};
	made.left_out = std::move(collected);
	return made;
}

} // namespace monitor::requests
