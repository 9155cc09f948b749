// SPDX-License-Identifier: MIT
// How far the trace's times may be off the TSC: computed from the clock snapshots (events `sync`) and clock sets of the
// recorder's stream, much as ZM4's synchronisation tokens prove the time stamps between them.
//
// At a snapshot the recorder read TSC and monotonic time at once; the probes' line at that monotonic time is compared
// with the TSC value. Between two snapshots the true time is assumed to be linear, so the error is largest at a
// snapshot or where one line replaces another. Added to it are the widths of the reads, the CPUs' skew, and 20 parts in
// 10^9 of the interval for changes of the slope in between (the drift measured on real machines is about 10^-9).
#pragma once

#include <cstdint>
#include <vector>

#include "monitor/card.h"
#include "reading/events/field_ref.h"
#include "reading/events/trace.h"
#include "recording_info.h"

namespace monitor::analyze {

struct ClockInterval {
	std::uint64_t from = 0, to = 0; // trace time
	std::uint64_t bound = 0;        // ticks
};

// Whether each clock set continues its predecessor's line; `steps` of them do not.
struct ClockSteps {
	std::uint64_t sets = 0, steps = 0, largest = 0, missing = 0;
};

class ClockBound {
public:
	ClockBound(const trace::Description &description, const RecordingInfo &info);

	// Feed every event of the recorder's stream, in order.
	void event(const trace::Event &event);

	const std::vector<ClockInterval> &intervals() const { return intervals_; }
	std::uint64_t syncs() const { return syncs_; }
	// The largest bound of all intervals, in ticks; 0 if there are none.
	std::uint64_t largest() const;
	// The bound that this fraction of the intervals does not exceed.
	std::uint64_t quantile(double fraction) const;
	std::uint64_t max_interval_ticks() const;
	const ClockSteps &steps() const { return steps_; }
	// Steps of the system's clock against monotonic time, by a millisecond or more.
	const std::vector<trace::RealTimeStep> &real_time_steps() const { return real_time_steps_; }

private:
	struct Sync {
		std::uint64_t time, monotonic_ns, width, realtime_ns;

		std::uint64_t offset_ns() const { return realtime_ns - monotonic_ns; }
	};

	std::int64_t error_at(std::uint64_t monotonic_ns, std::uint64_t true_time) const;
	void close_interval(const Sync &next);
	void check_step(unsigned number, const edc_clock_set &set);

	const trace::EventClass *sync_class_ = nullptr, *set_class_ = nullptr;
	trace::FieldRef monotonic_, width_, realtime_, number_, from_ns_, base_, whole_, frac_;
	std::uint64_t skew_ = 0, begin_ = 0, end_ = ~0ull;
	std::vector<edc_clock_set> sets_;
	unsigned last_number_ = 0;
	ClockSteps steps_;
	bool have_last_ = false;
	Sync last_{};
	std::vector<trace::RealTimeStep> real_time_steps_;
	std::uint64_t syncs_ = 0;
	std::vector<ClockInterval> intervals_;
};

} // namespace monitor::analyze
