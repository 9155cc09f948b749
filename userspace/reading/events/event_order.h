// SPDX-License-Identifier: MIT
// The order of events on machines whose clocks agree only within a bound. An event happened within its time plus or
// minus the bound of its machine's clock. If two such intervals of different machines overlap, or if a bound is
// unknown, their order is unknown. The events of one machine are in the order of their times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "event.h"
#include "trace.h"

namespace monitor::trace {

class EventOrder {
public:
	// `trace` must outlive it.
	explicit EventOrder(const Trace &trace);

	struct Instant {
		std::uint32_t machine = 0; // in Trace::machines()
		std::uint64_t time = 0;    // in ticks of the trace's clock
	};
	// Whether `a` happened before `b`; empty: unknown.
	std::optional<bool> is_before(const Instant &a, const Instant &b) const;

	// Called for each event of a listing, in its order: whether all earlier events of other machines certainly
	// happened before this one. As a machine's events are in order, only the latest of each is compared.
	bool follows(const Event &event);

private:
	struct Interval {
		bool is_known = false;
		std::uint64_t first = 0, last = 0;
	};
	Interval interval_of(const Instant &instant) const;
	bool is_after(const Interval &interval, std::uint32_t machine) const;

	const std::vector<MachineClock> *clocks_;
	const Clock *clock_;
	struct Latest {
		bool has_value = false;
		Interval when;
	};
	std::vector<Latest> latest_;     // by machine
	std::uint64_t all_before_ = 0;   // the latest end of all known intervals so far
	bool any_unknown_ = false;       // whether one so far was unknown
	std::uint32_t last_machine_ = 0; // of the latest event
};

} // namespace monitor::trace
