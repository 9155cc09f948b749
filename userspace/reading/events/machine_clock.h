// SPDX-License-Identifier: MIT
// How far a machine's times may be off the common clock, as a function of time.
// Trace has one for each machine (trace.h). A machine may have several traces, such as those of its kernel and of its
// programs: the bound is the largest of theirs. EventOrder (event_order.h) compares times by it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "clock_map.h"

namespace monitor::trace {

class MachineClock {
public:
	MachineClock() = default;
	explicit MachineClock(ClockBoundNs bound) { add(bound); }

	// The bound of one of the machine's traces. Without a trace the bound is 0.
	void add(ClockBoundNs bound);
	void add(std::shared_ptr<const ClockMap> map) { maps_.push_back(std::move(map)); }

	// In ns; empty: unknown. If a trace has lines, times are in ns since the epoch.
	ClockBoundNs bound_at(std::uint64_t time) const;
	bool has_lines() const { return !maps_.empty(); }

	// Statistics of the bounds that apply to these times.
	struct Range {
		std::uint64_t min = 0, max = 0;       // of the known ones
		std::uint64_t known = 0, unknown = 0; // their number
	};
	Range range(std::uint64_t from, std::uint64_t to) const;

private:
	bool is_known_ = true;
	std::uint64_t max_ns_ = 0; // of the traces without lines
	std::vector<std::shared_ptr<const ClockMap>> maps_;
};

} // namespace monitor::trace
