// SPDX-License-Identifier: MIT
// Samples of the relation of two clocks, in buckets of equal time: in each, the points that lines can touch.
// Only corners of the convex hulls matter. As times are large and bounds small, points have residuals: the reference's
// difference from the nominal rate. Invariant: empty buckets are omitted, so there are no more of them than points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clock_lines.h"

namespace monitor::collection {

struct SamplePoint {
	std::uint64_t ticks = 0;
	long double residual = 0; // in ns
};

// The straight line of the nominal rate through the first sample.
class NominalLine {
public:
	NominalLine() = default;
	NominalLine(ClockSample first, std::uint64_t frequency_hz) : first_(first), frequency_hz_(frequency_hz) {}

	long double residual(std::uint64_t ticks, std::int64_t ns) const;
	// In ns since the epoch, rounded to the nearest; saturates.
	std::int64_t ns(std::uint64_t ticks, long double residual) const;
	// From one time to another, negative if that is earlier.
	double seconds(std::uint64_t from, std::uint64_t to) const;

private:
	ClockSample first_;
	std::uint64_t frequency_hz_ = 1;
};

class ClockSampleBuckets {
public:
	ClockSampleBuckets(const ClockSamples &samples, const LineOptions &options);

	std::size_t count() const { return keys_.size(); }
	const NominalLine &nominal() const { return nominal_; }
	// The ends of a bucket, in ticks.
	std::uint64_t begin(std::size_t bucket) const { return start_of(keys_[bucket]); }
	std::uint64_t end(std::size_t bucket) const { return start_of(keys_[bucket] + 1); }
	std::uint64_t width_ticks() const { return width_; }

	// Finds the corners that lines may touch if the rate changes by at most this much.
	void find_hulls(double rho_ppb);
	// The corners in some buckets, sorted by time.
	struct Corners {
		const SamplePoint *first, *last;
		const SamplePoint *begin() const { return first; }
		const SamplePoint *end() const { return last; }
		bool is_empty() const { return first == last; }
	};
	Corners at_most(std::size_t from, std::size_t to) const { return above_.corners(from, to); }
	Corners at_least(std::size_t from, std::size_t to) const { return below_.corners(from, to); }

private:
	// The points on one side.
	struct Side {
		std::vector<SamplePoint> points, hull;
		std::vector<std::size_t> first_point, first_corner; // by bucket, with one more at the end

		Corners corners(std::size_t from, std::size_t to) const
		{
			return {hull.data() + first_corner[from], hull.data() + first_corner[to]};
		}
	};

	std::uint64_t start_of(std::uint64_t key) const;
	std::uint64_t key_of(const SamplePoint &point) const { return (point.ticks - origin_) / width_; }
	std::uint64_t choose_width(const LineOptions &options) const;
	void make_buckets();
	void find_first_points(Side &side) const;
	void find_hull(Side &side, double sign, double rho_ppb) const;

	NominalLine nominal_;
	Side above_, below_;
	std::uint64_t origin_ = 0, width_ = 1;
	std::vector<std::uint64_t> keys_; // of the buckets: distance from the first one in widths
};

} // namespace monitor::collection
