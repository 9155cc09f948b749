// SPDX-License-Identifier: MIT
#include "clock_sample_buckets.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace monitor::collection {
namespace {

using Wide = __int128;

constexpr std::int64_t ns_per_s = 1'000'000'000;
constexpr std::uint64_t last_tick = std::numeric_limits<std::uint64_t>::max();

bool is_earlier(const SamplePoint &a, const SamplePoint &b)
{
	return a.ticks < b.ticks;
}

std::uint64_t next_tick(std::uint64_t ticks)
{
	return ticks + (ticks < last_tick);
}

// Of points sorted by time.
std::uint64_t median_gap(const std::vector<SamplePoint> &points)
{
	std::vector<std::uint64_t> gaps;
	for (std::size_t i = 1; i < points.size(); ++i)
		if (points[i].ticks > points[i - 1].ticks)
			gaps.push_back(points[i].ticks - points[i - 1].ticks);
	if (gaps.empty())
		return 1;
	const auto median = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
	std::nth_element(gaps.begin(), median, gaps.end());
	return *median;
}

// Fewer points give a wider, but valid bound: this limits the time that hosts can cause.
void thin_out(std::vector<SamplePoint> &hull, std::size_t from)
{
	constexpr std::size_t max_corners = 16;
	const std::size_t count = hull.size() - from;
	if (count <= max_corners)
		return;
	for (std::size_t i = 0; i < max_corners; ++i)
		hull[from + i] = hull[from + i * (count - 1) / (max_corners - 1)];
	hull.resize(from + max_corners);
}

} // namespace

long double NominalLine::residual(std::uint64_t ticks, std::int64_t ns) const
{
	const Wide passed = (static_cast<Wide>(ticks) - first_.ticks) * ns_per_s, frequency = frequency_hz_;
	const Wide whole = static_cast<Wide>(ns) - first_.ns - passed / frequency;
	return static_cast<long double>(whole) -
	       static_cast<long double>(passed % frequency) / static_cast<long double>(frequency_hz_);
}

std::int64_t NominalLine::ns(std::uint64_t ticks, long double residual) const
{
	const Wide passed = (static_cast<Wide>(ticks) - first_.ticks) * ns_per_s, frequency = frequency_hz_;
	const long double rest =
	    residual + static_cast<long double>(passed % frequency) / static_cast<long double>(frequency_hz_);
	constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
	if (!(std::abs(rest) < static_cast<long double>(most)))
		return most;
	const Wide ns = first_.ns + passed / frequency + static_cast<Wide>(std::llround(rest));
	return static_cast<std::int64_t>(std::clamp<Wide>(ns, std::numeric_limits<std::int64_t>::min(), most));
}

double NominalLine::seconds(std::uint64_t from, std::uint64_t to) const
{
	const auto ticks = static_cast<double>(to > from ? to - from : from - to);
	return (to > from ? ticks : -ticks) / static_cast<double>(frequency_hz_);
}

// A tick lasts until the next one, and so does a nanosecond: the message was sent or received at some time within them.
ClockSampleBuckets::ClockSampleBuckets(const ClockSamples &samples, const LineOptions &options)
{
	const auto early = [](const ClockSample &a, const ClockSample &b) { return a.ticks < b.ticks; };
	ClockSample first{last_tick, 0};
	for (const auto *some : {&samples.at_most, &samples.at_least})
		if (!some->empty())
			first = std::min(first, *std::min_element(some->begin(), some->end(), early), early);
	origin_ = first.ticks;
	nominal_ = {first, std::max<std::uint64_t>(options.frequency_hz, 1)};
	const auto widen = static_cast<long double>(options.widen_ns);
	for (const ClockSample &sample : samples.at_most)
		above_.points.push_back({sample.ticks, nominal_.residual(sample.ticks, sample.ns) + 1 + widen});
	for (const ClockSample &sample : samples.at_least)
		below_.points.push_back(
		    {next_tick(sample.ticks), nominal_.residual(next_tick(sample.ticks), sample.ns) - widen});
	std::sort(above_.points.begin(), above_.points.end(), is_earlier);
	std::sort(below_.points.begin(), below_.points.end(), is_earlier);
	width_ = choose_width(options);
	make_buckets();
	while (keys_.size() > trace::ClockMap::max_nodes / 2 - 128) {
		width_ = width_ > last_tick / 2 ? last_tick : 2 * width_;
		make_buckets();
	}
}

// A second, less for samples of only some seconds, or the distance of the points of a side.
std::uint64_t ClockSampleBuckets::choose_width(const LineOptions &options) const
{
	constexpr std::uint64_t parts = 16;
	std::uint64_t last = origin_;
	for (const Side *side : {&above_, &below_})
		if (!side->points.empty())
			last = std::max(last, side->points.back().ticks);
	const std::uint64_t usual =
	    std::min((last - origin_) / parts + 1, std::max<std::uint64_t>(options.frequency_hz, 1));
	return std::max({usual, median_gap(above_.points), median_gap(below_.points)});
}

std::uint64_t ClockSampleBuckets::start_of(std::uint64_t key) const
{
	const auto at = static_cast<unsigned __int128>(key) * width_ + origin_;
	return at > last_tick ? last_tick : static_cast<std::uint64_t>(at);
}

void ClockSampleBuckets::make_buckets()
{
	keys_.clear();
	for (const Side *side : {&above_, &below_})
		for (const SamplePoint &point : side->points)
			if (keys_.empty() || keys_.back() != key_of(point))
				keys_.push_back(key_of(point));
	std::sort(keys_.begin(), keys_.end());
	keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
	find_first_points(above_);
	find_first_points(below_);
}

void ClockSampleBuckets::find_first_points(Side &side) const
{
	side.first_point.clear();
	std::size_t point = 0;
	for (const std::uint64_t key : keys_) {
		side.first_point.push_back(point);
		while (point < side.points.size() && key_of(side.points[point]) == key)
			++point;
	}
	side.first_point.push_back(point);
}

void ClockSampleBuckets::find_hulls(double rho_ppb)
{
	find_hull(above_, 1, rho_ppb);
	find_hull(below_, -1, rho_ppb);
}

// The points are moved apart by the same parabola for every node, plus a straight line that depends on the node and
// does not change the hull's corners.
void ClockSampleBuckets::find_hull(Side &side, double sign, double rho_ppb) const
{
	side.hull.clear();
	side.first_corner.clear();
	struct Flat {
		double x, y;
	};
	std::vector<Flat> flat; // corners of this bucket
	for (std::size_t bucket = 0; bucket < keys_.size(); ++bucket) {
		side.first_corner.push_back(side.hull.size());
		flat.clear();
		const std::size_t from = side.first_point[bucket], to = side.first_point[bucket + 1];
		for (std::size_t i = from; i < to; ++i) {
			const SamplePoint &point = side.points[i];
			const double x = nominal_.seconds(begin(bucket), point.ticks);
			const double y = sign * static_cast<double>(point.residual - side.points[from].residual) +
					 rho_ppb * x * x / 2;
			const auto is_above = [&](const Flat &a, const Flat &b) {
				return (b.x - a.x) * (y - a.y) <= (b.y - a.y) * (x - a.x);
			};
			if (!flat.empty() && x <= flat.back().x) {
				if (y >= flat.back().y)
					continue;
				flat.pop_back();
				side.hull.pop_back();
			}
			while (flat.size() > 1 && is_above(flat[flat.size() - 2], flat.back())) {
				flat.pop_back();
				side.hull.pop_back();
			}
			flat.push_back({x, y});
			side.hull.push_back(point);
		}
		thin_out(side.hull, side.first_corner.back());
	}
	side.first_corner.push_back(side.hull.size());
}

} // namespace monitor::collection
