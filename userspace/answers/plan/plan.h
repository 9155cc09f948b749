// SPDX-License-Identifier: MIT
// What a recording would lose and cost with another setting, from a recording of the same load. Each setting is
// simulated several times (simulation.h), with other values of what differs by chance, so each answer is a range.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
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

// In percent: of the posted words; of one CPU; of a ring.
struct Prediction {
	Range lost, recorder_cpu, fullest;
};

// More is refused: settings of one command, each of which is simulated several times, and bytes of a buffer.
constexpr std::size_t max_settings = 400;
constexpr std::uint64_t max_wanted_buffer = std::uint64_t(1) << 40;
// Throws Error if that many sizes of the buffer and rates of the disk make too many settings.
void expect_few_settings(std::size_t buffers, std::size_t disks);
// Throws Error if it is too large; `text`: as it was given.
void expect_possible_buffer(std::uint64_t bytes, const std::string &text);

// What is simulated for a setting: the recorder beside the load and apart from it, unless it nearly always ran in one
// of these places, each at three speeds.
std::vector<Circumstances> circumstances_of(const Arrivals &arrivals);
double recorder_cpu_percent(const Recorded &recorded, const Outcome &outcome);
Prediction predict(const Recorded &recorded, const Setting &setting);
// The loss in each simulation, in percent; as many values for every setting.
std::vector<double> lost_in_each(const Recorded &recorded, const Setting &setting);

// The smallest --buffer with which no simulation loses anything; none: with max_buffer one does.
constexpr std::uint64_t max_buffer = std::uint64_t(4) << 30;
std::optional<std::uint64_t> smallest_buffer(const Recorded &recorded, Setting setting);

} // namespace monitor::plan
