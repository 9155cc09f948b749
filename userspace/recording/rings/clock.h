// SPDX-License-Identifier: MIT
// Clock snapshots and steering. A snapshot reads TSC, monotonic, real and TAI time at one instant; the steering turns
// snapshots into clock sets, with which the BPF card converts monotonic time to trace time (card.h). Runs at the start
// and every 100 ms. One thread at a time. Invariant: the published function is continuous and increasing, and sets are
// published before they take effect.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/recording_file/clocks.h"
#include "monitor/card.h"

namespace monitor::record {

struct Sync {
	std::uint64_t time = 0; // trace clock, ticks: the middle of the read
	std::uint64_t monotonic_ns = 0;
	std::uint64_t realtime_ns = 0;
	std::uint64_t tai_ns = 0;
	std::uint64_t width_ticks = 0; // how long the read took: its uncertainty
	unsigned cpu = 0;
};

// Reads the trace's clock, in ticks.
using ReadTime = std::uint64_t (*)();

// A step of the system clock, between this snapshot and the previous one. Otherwise real time advances with monotonic
// time.
struct RealTimeStep {
	std::uint64_t time = 0;                                // trace clock, ticks
	std::int64_t ns = 0;                                   // the step; negative: set back
	static constexpr std::int64_t smallest_ns = 1'000'000; // more than the error of an interrupted read
};

// The narrowest of several reads. Without an invariant TSC, trace time is monotonic time, and the width is 0.
Sync read_sync(bool invariant_tsc);

class ClockSteering {
public:
	ClockSteering(edc_clock &clock, bool invariant_tsc);

	// Publish the first set, from a first snapshot and one that is taken `duration_ms` later or now.
	void start(const Sync &first, unsigned duration_ms);

	// Extend the function with a new snapshot.
	void update(const Sync &sync);
	// The same if the newest set is over a second old: probes take longer with an old set.
	void renew();

	// The sets published since the last call, numbered from published() - size.
	std::vector<edc_clock_set> take_published() { return std::exchange(published_, {}); }
	std::uint64_t published() const { return clock_.newest + 1; }
	bool invariant_tsc() const { return invariant_tsc_; }
	ReadTime read_time() const;

	// Ticks per second from all snapshots so far.
	double frequency_hz() const;
	// Steps of a millisecond or more; the first 1,000.
	const std::vector<RealTimeStep> &real_time_steps() const { return real_time_steps_; }
	const Sync &first() const { return first_; } // taken before the probes were loaded
	const Sync &last() const { return history_.back(); }

private:
	long double slope() const;
	edc_clock_set newest() const { return clock_.set[clock_.newest % EDC_CLOCK_SETS]; }
	void find_real_time_step(const Sync &sync);

	edc_clock &clock_;
	bool invariant_tsc_;
	Sync first_;
	std::deque<Sync> history_; // of the last second
	std::vector<edc_clock_set> published_;
	std::vector<RealTimeStep> real_time_steps_;
};

struct ClockDescription {
	std::string name = "tsc"; // or "monotonic" where there is no invariant TSC
	std::uint64_t frequency_hz = 1'000'000'000;
	std::int64_t offset_s = 0; // trace time 0 in seconds since the epoch ...
	std::uint64_t offset = 0;  // ... plus this many ticks; by the system clock at the end
	std::vector<RealTimeStep> steps = {};
};

// The trace's clock, as precisely as it is known so far.
ClockDescription describe_clock(const ClockSteering &steering);

// Measures the TSC offset between the first CPU and each other one by messages through memory, for all CPUs in this
// process's cpuset.
recording_file::TscSkew measure_tsc_skew();

} // namespace monitor::record
