// SPDX-License-Identifier: MIT
#include "event_order.h"

#include <algorithm>
#include <limits>

namespace monitor::trace {

EventOrder::EventOrder(const Trace &trace)
    : clocks_(&trace.machine_clocks()), clock_(&trace.description().clock), latest_(trace.machines().size())
{
}

EventOrder::Interval EventOrder::interval_of(const Instant &instant) const
{
	const ClockBoundNs bound = (*clocks_)[instant.machine].bound_at(instant.time);
	if (!bound)
		return {};
	const std::uint64_t ticks = clock_->frequency_hz == second_ns ? *bound : clock_->to_ticks(*bound);
	constexpr std::uint64_t latest = std::numeric_limits<std::uint64_t>::max();
	return {true, instant.time - std::min(ticks, instant.time),
		instant.time + std::min(ticks, latest - instant.time)};
}

std::optional<bool> EventOrder::is_before(const Instant &a, const Instant &b) const
{
	if (a.machine == b.machine)
		return a.time < b.time;
	const Interval first = interval_of(a), second = interval_of(b);
	if (!first.is_known || !second.is_known)
		return std::nullopt;
	if (first.last < second.first)
		return true;
	if (second.last < first.first)
		return false;
	return std::nullopt;
}

bool EventOrder::is_after(const Interval &interval, std::uint32_t machine) const
{
	const Latest &latest = latest_[machine];
	return !latest.has_value || (latest.when.is_known && interval.is_known && latest.when.last < interval.first);
}

// The latest event most probably overlaps, so it is checked first.
bool EventOrder::follows(const Event &event)
{
	const std::uint32_t mine = event.stream->machine;
	const Interval interval = interval_of({mine, event.time});
	bool after_all = interval.is_known && !any_unknown_ && all_before_ < interval.first;
	if (!after_all && (last_machine_ == mine || is_after(interval, last_machine_))) {
		after_all = true;
		for (std::uint32_t machine = 0; machine < latest_.size() && after_all; ++machine)
			after_all = machine == mine || is_after(interval, machine);
	}
	latest_[mine] = {true, interval};
	last_machine_ = mine;
	all_before_ = std::max(all_before_, interval.last);
	any_unknown_ = any_unknown_ || !interval.is_known;
	return after_all;
}

} // namespace monitor::trace
