// SPDX-License-Identifier: MIT
// What a recording would lose and cost with another setting, from a recording of the same load: simulated
// (simulation.h) with several outcomes of what is left to chance, so each answer is a range.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "arrivals.h"
#include "service_times.h"
#include "simulation.h"

namespace monitor::plan {

struct Recorded {
	Arrivals arrivals;
	ServiceTimes times;
};
// Throws Unanswerable or Error.
Recorded read_recorded(trace::Trace &trace, const analyze::RecordingInfo &info);

struct Range {
	double low = 0, high = 0;

	void add(double value)
	{
		low = std::min(low, value);
		high = std::max(high, value);
	}
};

// In percent: of the words that were posted; of one CPU; of a ring.
struct Prediction {
	Range lost, recorder_cpu, fullest;
};

// The outcomes that are simulated: where the recorder's threads run, unless they nearly always ran in one place, and
// how fast all is.
std::vector<Chance> chances_of(const Arrivals &arrivals);
double recorder_cpu_percent(const Recorded &recorded, const Outcome &outcome);
Prediction predict(const Recorded &recorded, const Setting &setting);
// What each outcome loses, in percent: as many for every setting.
std::vector<double> lost_by_chance(const Recorded &recorded, const Setting &setting);

// The smallest --buffer of which no outcome loses anything; nothing: not even max_buffer.
constexpr std::uint64_t max_buffer = std::uint64_t(4) << 30;
std::optional<std::uint64_t> smallest_buffer(const Recorded &recorded, Setting setting);

} // namespace monitor::plan
