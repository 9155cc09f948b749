// SPDX-License-Identifier: MIT
// Describes many values without keeping them: count, sum, squares, extremes, and a histogram whose percentiles are
// within 0.8 % of the value.
//
// The folds here keep one per row and merge those of the partitions; answers/report/statistics_table.cpp prints it. All
// sums are integers, so the order of adding and merging does not matter. Units are the caller's: ticks, or whatever a
// field counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/histogram.h"

namespace monitor::activities {

class Distribution {
public:
	void add(std::int64_t value)
	{
		++count_;
		total_ += value;
		add_squares(static_cast<unsigned __int128>(static_cast<__int128>(value) * value));
		min_ = std::min(min_, value);
		max_ = std::max(max_, value);
		if (value >= 0)
			positive_.add(static_cast<std::uint64_t>(value));
		else
			negative_.add(0 - static_cast<std::uint64_t>(value));
	}
	void merge(const Distribution &other)
	{
		count_ += other.count_;
		total_ += other.total_;
		add_squares(other.squares_);
		squares_carried_ += other.squares_carried_;
		min_ = std::min(min_, other.min_);
		max_ = std::max(max_, other.max_);
		positive_.merge(other.positive_);
		negative_.merge(other.negative_);
	}

	std::uint64_t count() const { return count_; }
	double total() const { return static_cast<double>(total_); }
	// The total of values that are ticks: it fits.
	std::int64_t ticks() const { return static_cast<std::int64_t>(total_); }
	double mean() const { return count_ ? total() / static_cast<double>(count_) : 0; }
	// Over all values, not an estimate from a sample.
	double standard_deviation() const
	{
		if (count_ == 0)
			return 0;
		using Wide = unsigned __int128;
		const auto n = static_cast<long double>(count_);
		const long double mean = static_cast<long double>(total_) / n;
		const long double all =
		    static_cast<long double>(squares_) + std::ldexp(static_cast<long double>(squares_carried_), 128);
		long double variance = all / n - mean * mean;
		if (variance * n < std::ldexp(1.0L, 127)) {
			// Uses distances from about the mean, whose sum fits: exact even for large values.
			const __int128 middle = total_ / static_cast<__int128>(count_),
				       rest = total_ % static_cast<__int128>(count_);
			const Wide distances = squares_ - static_cast<Wide>(middle) * static_cast<Wide>(total_) -
					       static_cast<Wide>(middle) * static_cast<Wide>(rest);
			const long double beside = static_cast<long double>(rest) / n;
			variance = static_cast<long double>(distances) / n - beside * beside;
		}
		return static_cast<double>(std::sqrt(std::max(0.0L, variance)));
	}
	// 0 if there are none.
	std::int64_t min() const { return count_ ? min_ : 0; }
	std::int64_t max() const { return count_ ? max_ : 0; }
	// The value that a fraction p (0 to 1) of the values does not exceed.
	std::int64_t percentile(double p) const
	{
		const std::uint64_t rank = nearest_rank(p, count_);
		const std::uint64_t below_zero = negative_.total();
		if (count_ == 0)
			return 0;
		const std::int64_t found = rank <= below_zero && below_zero > 0
					       ? negated(negative_.at_rank(below_zero - rank + 1))
					       : static_cast<std::int64_t>(positive_.at_rank(rank - below_zero));
		return std::clamp(found, min_, max_);
	}
	// Calls visit(first, last, count) for every bucket that has values, in order. Both ends are included.
	template <class Visit> void visit(Visit &&visit) const
	{
		negative_.visit_back([&](std::uint64_t first, std::uint64_t last, std::uint64_t count) {
			visit(negated(last), negated(first), count);
		});
		positive_.visit([&](std::uint64_t first, std::uint64_t last, std::uint64_t count) {
			visit(static_cast<std::int64_t>(first), static_cast<std::int64_t>(last), count);
		});
	}

private:
	// The negative of a magnitude; 2^63 and above give the smallest number.
	static std::int64_t negated(std::uint64_t magnitude)
	{
		constexpr auto least = std::numeric_limits<std::int64_t>::min();
		return magnitude > std::uint64_t(std::numeric_limits<std::int64_t>::max())
			   ? least
			   : -static_cast<std::int64_t>(magnitude);
	}
	void add_squares(unsigned __int128 more)
	{
		squares_ += more;
		squares_carried_ += squares_ < more;
	}

	std::uint64_t count_ = 0;
	__int128 total_ = 0;
	unsigned __int128 squares_ = 0;
	std::uint64_t squares_carried_ = 0; // times 2^128
	std::int64_t min_ = std::numeric_limits<std::int64_t>::max(), max_ = std::numeric_limits<std::int64_t>::min();
	Histogram positive_, negative_; // the latter holds magnitudes
};

} // namespace monitor::activities
