// SPDX-License-Identifier: MIT
// A histogram of times with fixed buckets, as OpenMetrics requires: powers of two from 1 us to 16.8 s, so a quantile is
// off by at most a factor of two.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/ranges.h"
#include "reading/ctf/clock.h"

namespace monitor::metrics {

inline constexpr std::size_t latency_bounds = 25; // beyond these there is one more bucket

struct Latency {
	std::array<std::uint64_t, latency_bounds + 1> counts{};
	double seconds = 0; // sum of all times

	std::uint64_t count() const { return sum_of_all<std::uint64_t>(counts); }
	Latency &operator+=(const Latency &other)
	{
		for (std::size_t i = 0; i < counts.size(); ++i)
			counts[i] += other.counts[i];
		seconds += other.seconds;
		return *this;
	}
};

// The upper end of a bucket, inclusive.
inline double latency_bound_seconds(std::size_t bucket)
{
	return static_cast<double>(std::uint64_t{1} << bucket) / 1e6;
}

// Converts durations in ticks to buckets.
class LatencyScale {
public:
	explicit LatencyScale(const trace::Clock &clock)
	    : seconds_per_tick_(1 / static_cast<double>(std::max<std::uint64_t>(clock.frequency_hz, 1)))
	{
		for (std::size_t i = 0; i < latency_bounds; ++i)
			bounds_[i] = (std::uint64_t{1} << i) * clock.frequency_hz / 1'000'000;
	}

	double seconds(std::uint64_t ticks) const { return static_cast<double>(ticks) * seconds_per_tick_; }
	void add(Latency &latency, std::uint64_t ticks) const
	{
		const auto bound = std::ranges::lower_bound(bounds_, ticks);
		++latency.counts[static_cast<std::size_t>(bound - bounds_.begin())];
		latency.seconds += seconds(ticks);
	}

private:
	double seconds_per_tick_;
	std::array<std::uint64_t, latency_bounds> bounds_;
};

} // namespace monitor::metrics
