// SPDX-License-Identifier: MIT
#include "path.h"

#include <algorithm>
#include <limits>

namespace monitor::requests {
namespace {

using Wide = __int128;

constexpr Wide far_away = Wide(1) << 100;

std::int64_t saturated(Wide value)
{
	constexpr Wide low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
	return static_cast<std::int64_t>(std::clamp(value, low, high));
}

// Consecutive events of one host.
struct Visit {
	std::vector<EventInterval> events;

	std::uint32_t machine() const { return events.front().machine; }
	void append(Visit &&later) { events.insert(events.end(), later.events.begin(), later.events.end()); }
};

// Whether no event of one visit has a known order relative to an event of the other, although all bounds are known.
bool are_unordered(const Visit &earlier, const Visit &later)
{
	const auto is_known = [](const EventInterval &event) { return event.high - event.at < far_away; };
	Wide first_end = far_away, last_begin = -far_away;
	for (const EventInterval &event : earlier.events)
		first_end = std::min(first_end, event.high);
	for (const EventInterval &event : later.events)
		last_begin = std::max(last_begin, event.low);
	return first_end >= last_begin && std::ranges::all_of(earlier.events, is_known) &&
	       std::ranges::all_of(later.events, is_known);
}

// Reorders the last four visits A B A B to A B, if the clocks allow it.
void join_last(std::vector<Visit> &visits)
{
	if (visits.size() < 4)
		return;
	Visit *const last = &visits[visits.size() - 4];
	if (last[0].machine() != last[2].machine() || last[1].machine() != last[3].machine() ||
	    !are_unordered(last[1], last[2]))
		return;
	last[0].append(std::move(last[2]));
	last[1].append(std::move(last[3]));
	visits.resize(visits.size() - 2);
}

std::vector<EventInterval> in_order(const std::vector<EventInterval> &events)
{
	std::vector<Visit> visits;
	for (std::size_t i = 0; i < events.size();) {
		Visit visit;
		for (; i < events.size() && (visit.events.empty() || events[i].machine == visit.machine()); ++i)
			visit.events.push_back(events[i]);
		visits.push_back(std::move(visit));
		join_last(visits);
	}
	std::vector<EventInterval> ordered;
	for (const Visit &visit : visits)
		ordered.insert(ordered.end(), visit.events.begin(), visit.events.end());
	return ordered;
}

// The latest end of intervals so far, of all machines except one.
class LatestOfOthers {
public:
	void add(std::uint32_t machine, Wide value)
	{
		if (machine == machine_) {
			max_ = std::max(max_, value);
		} else if (value > max_) {
			of_another_ = max_;
			max_ = value;
			machine_ = machine;
		} else {
			of_another_ = std::max(of_another_, value);
		}
	}
	Wide of_all_but(std::uint32_t machine) const { return machine == machine_ ? of_another_ : max_; }

private:
	static constexpr Wide none = -4 * far_away;
	std::uint32_t machine_ = 0;
	Wide max_ = none, of_another_ = none; // the latter: of machines other than machine_
};

// How far events before a step may extend into it; negative: provably not.
std::vector<Wide> reach_from_before(const std::vector<EventInterval> &events)
{
	std::vector<Wide> reach;
	LatestOfOthers latest;
	for (const EventInterval &event : events) {
		reach.push_back(latest.of_all_but(event.machine) - event.low);
		latest.add(event.machine, event.high);
	}
	return reach; // by the step's first event
}

std::vector<Wide> reach_from_after(const std::vector<EventInterval> &events)
{
	std::vector<Wide> reach(events.size());
	LatestOfOthers earliest; // of the negative times
	for (std::size_t i = events.size(); i-- > 0;) {
		reach[i] = earliest.of_all_but(events[i].machine) + events[i].high;
		earliest.add(events[i].machine, -events[i].low);
	}
	return reach; // by the step's last event
}

void find_order(Step &step, Wide before, Wide after)
{
	const bool may_be_between = before >= 0 || after >= 0;
	const Wide least = step.time.is_known() ? Wide(step.time.ns) - *step.time.bound_ns : -far_away;
	const Wide sure = least - std::max<Wide>(before, 0) - std::max<Wide>(after, 0);
	step.sure_ns = static_cast<std::uint64_t>(saturated(std::max<Wide>(sure, 0)));
	step.is_order_known = (step.time.is_exact && !may_be_between) || sure > 0;
}

// Finds the largest step, and whether all others are provably shorter.
void find_largest(Path &path)
{
	for (std::size_t i = 0; i < path.steps.size(); ++i)
		if (path.steps[i].time.is_known() &&
		    (!path.largest || path.steps[i].time.ns > path.steps[*path.largest].time.ns))
			path.largest = i;
	if (!path.largest)
		return;
	const Wide sure = path.steps[*path.largest].sure_ns;
	path.is_largest_sure = sure > 0;
	for (std::size_t i = 0; i < path.steps.size(); ++i) {
		const Elapsed &time = path.steps[i].time;
		if (i != *path.largest)
			path.is_largest_sure &= time.is_known() && Wide(time.ns) + *time.bound_ns < sure;
	}
}

} // namespace

Elapsed PathMaker::elapsed(const KeyedEvent &from, const KeyedEvent &to) const
{
	const bool is_later = to.time >= from.time;
	const Wide apart = clock_->to_ns(is_later ? to.time - from.time : from.time - to.time);
	const std::int64_t ns = saturated(is_later ? apart : -apart);
	if (machine_of(from) == machine_of(to)) {
		if (from.clock == to.clock)
			return {saturated(Wide(to.own_ns) - from.own_ns), 0, true};
		return {ns, std::nullopt, false}; // different clocks of a host are related only by their origins
	}
	const trace::ClockBoundNs first = bound_of(from), second = bound_of(to);
	if (!first || !second)
		return {ns, std::nullopt, false};
	return {ns, static_cast<std::uint64_t>(saturated(Wide(*first) + *second)), false};
}

std::vector<EventInterval> PathMaker::intervals_of(const std::vector<KeyedEvent> &events) const
{
	std::vector<EventInterval> intervals;
	for (const KeyedEvent &event : events) {
		const Wide at = clock_->to_ns(event.time - std::min(event.time, events.front().time));
		const trace::ClockBoundNs bound = bound_of(event);
		const Wide reach = bound ? Wide(*bound) : far_away;
		intervals.push_back({event, machine_of(event), at, at - reach, at + reach});
	}
	return intervals;
}

Path PathMaker::path(const std::vector<KeyedEvent> &events) const
{
	const std::vector<EventInterval> ordered = in_order(intervals_of(events));
	const std::vector<Wide> before = reach_from_before(ordered), after = reach_from_after(ordered);
	Path path;
	for (const EventInterval &each : ordered)
		path.events.push_back(each.event);
	for (std::size_t i = 0; i + 1 < path.events.size(); ++i) {
		const KeyedEvent &from = path.events[i], &to = path.events[i + 1];
		Step step{from.point, to.point, elapsed(from, to)};
		find_order(step, before[i], after[i + 1]);
		path.is_order_known = path.is_order_known && step.is_order_known;
		path.steps.push_back(step);
	}
	path.total = elapsed(path.events.front(), path.events.back());
	find_largest(path);
	return path;
}

} // namespace monitor::requests
