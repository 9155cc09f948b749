// SPDX-License-Identifier: MIT
#include "chosen_requests.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace monitor::path {
namespace {

constexpr std::uint64_t max_events = 4'000'000;

} // namespace

ChosenRequests::ChosenRequests(const trace::Trace &trace, analyze::ThreadFold &fold, const std::string &names)
    : fold_(fold), names_(names),
      keys_(activities::split_names(names, "--key"), trace.description(), trace.begin_time(), "--key")
{
	for (std::size_t i = 0; i < keys_.names().size(); ++i)
		if (keys_.is_of_machine(i) || keys_.needs_threads())
			throw Error(
			    "--key: {} is not a parameter of a request; name one that its events have in common, such "
			    "as its number",
			    readable(keys_.names()[i]));
	fold.add(*this);
}

void ChosenRequests::user_event(const analyze::Thread &thread, const trace::Event &event)
{
	std::string key;
	if (!keys_.are_in(*event.cls) || !keys_.append(event, {}, key))
		return;
	if (++events_ > max_events)
		throw Error("more than {} events have {}: choose some with --from and --to", max_events,
			    readable(names_));
	requests_[key].push_back({&thread, event.time});
}

std::vector<std::vector<ChosenActivities::ThreadRange>> ChosenRequests::finish(const Stretches &stretches)
{
	std::vector<std::vector<ChosenActivities::ThreadRange>> ways;
	for (const auto &[key, passed] : requests_) {
		std::vector<ChosenActivities::ThreadRange> way;
		const bool is_within =
		    passed.front().time >= fold_.window_begin() && passed.back().time <= fold_.window_end();
		for (std::size_t i = 1; is_within && i < passed.size(); ++i) {
			const std::uint32_t index = stretches.find(*passed[i].thread);
			if (index != nobody && passed[i].time > passed[i - 1].time)
				way.push_back({index, {passed[i - 1].time, passed[i].time}});
		}
		if (!way.empty())
			ways.push_back(std::move(way));
	}
	if (ways.empty())
		throw Error("no two events with the same {} are in what is selected", readable(names_));
	std::ranges::sort(ways, {}, [](const auto &way) { return way.front().range.from; });
	return ways;
}

} // namespace monitor::path
