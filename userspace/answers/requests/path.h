// SPDX-License-Identifier: MIT
// The events of one request in order, and the steps between them: how long each took, with its uncertainty.
// Events of one host are in the order of their times, and the time between them is that of the host's own clock: exact.
// An event of another host happened within its time plus or minus the bound of that host's clock: the time between two
// hosts is off by at most the sum of both bounds, and unknown if one of them is. If two intervals overlap, the order is
// unknown. Events are then in the order of their times, except that A B A B becomes A A B B if the order of the middle
// two is unknown: a request is more likely at a host once than twice. Invariants: the true time of a step is within its
// bound; if its order is known, some part of it was provably free of any other event of the request; if
// is_largest_sure, the longest true time without an event of the request is within the largest step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "events_by_key.h"
#include "reading/events/machine_clock.h"

namespace monitor::requests {

// The time from one event to another.
struct Elapsed {
	std::int64_t ns = 0;          // by the clocks; meaningless if the bound is unknown
	trace::ClockBoundNs bound_ns; // empty: unknown
	bool is_exact = false;        // by one host's clock; the bound is then 0

	bool is_known() const { return bound_ns.has_value(); }
};

struct Step {
	std::uint32_t from = 0, to = 0; // points
	Elapsed time;
	std::uint64_t sure_ns = 0; // for at least this long nothing else happened, for all true times within the bounds
	bool is_order_known = false;
};

struct Path {
	std::vector<KeyedEvent> events;
	std::vector<Step> steps; // one less than events
	Elapsed total;           // from the first to the last event
	bool is_order_known = true;
	std::optional<std::size_t> largest; // of steps with known times
	bool is_largest_sure = false;
};

// An event with its interval, in ns since the request's first event.
struct EventInterval {
	KeyedEvent event;
	std::uint32_t machine = 0;
	__int128 at = 0, low = 0, high = 0; // low and high are far away if the bound is unknown

	// Provably, by the clocks; for events of different hosts.
	bool is_before(const EventInterval &other) const { return high < other.low; }
};

class PathMaker {
public:
	// The arguments must outlive it.
	PathMaker(const std::vector<Point> &points, const std::vector<trace::MachineClock> &clocks,
		  const trace::Clock &clock)
	    : points_(&points), clocks_(&clocks), clock_(&clock)
	{
	}
	PathMaker(const std::vector<Point> &points, const trace::Trace &trace)
	    : PathMaker(points, trace.machine_clocks(), trace.description().clock)
	{
	}

	// `events`: of one request, sorted by time, not empty.
	Path path(const std::vector<KeyedEvent> &events) const;
	std::vector<EventInterval> intervals_of(const std::vector<KeyedEvent> &events) const;
	Elapsed elapsed(const KeyedEvent &from, const KeyedEvent &to) const;
	std::uint32_t machine_of(const KeyedEvent &event) const { return (*points_)[event.point].machine; }

private:
	trace::ClockBoundNs bound_of(const KeyedEvent &event) const
	{
		return (*clocks_)[machine_of(event)].bound_at(event.time);
	}

	const std::vector<Point> *points_;
	const std::vector<trace::MachineClock> *clocks_; // by machine
	const trace::Clock *clock_;
};

} // namespace monitor::requests
