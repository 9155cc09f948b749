// SPDX-License-Identifier: MIT
// Histograms with log-linear buckets. Histogram has 128 buckets per power of two: a percentile is within 1/128 (0.8 %)
// of its value, and each power of two takes 1 KiB. CoarseHistogram has 8 (12.5 %, 64 bytes).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow.h"

namespace monitor {

// The nearest rank, from 1, of the p-quantile (p from 0 to 1) of `count` sorted values: the definition of all printed
// percentiles. 0: no values.
inline std::uint64_t nearest_rank(double p, std::uint64_t count)
{
	constexpr double rounding = 1e-12; // p may be slightly above the intended decimal
	const double rank = std::ceil((p - rounding) * static_cast<double>(count));
	return std::min(static_cast<std::uint64_t>(std::max(rank, 1.0)), count);
}

template <unsigned sub_bits> class BasicHistogram {
public:
	static constexpr std::size_t buckets = std::size_t(1) << sub_bits; // of a power of two

	void add(std::uint64_t value, std::uint64_t count = 1)
	{
		const unsigned power = power_of(value);
		std::vector<std::uint64_t> &counts = grow_to(powers_, power);
		if (counts.empty())
			counts.resize(buckets);
		counts[value >> (power ? power - 1 : 0) & (buckets - 1)] += count;
		total_ += count;
	}

	void merge(const BasicHistogram &other)
	{
		powers_.resize(std::max(powers_.size(), other.powers_.size()));
		for (std::size_t power = 0; power < other.powers_.size(); ++power) {
			if (other.powers_[power].empty())
				continue;
			powers_[power].resize(buckets);
			for (std::size_t i = 0; i < buckets; ++i)
				powers_[power][i] += other.powers_[power][i];
		}
		total_ += other.total_;
	}
	std::uint64_t total() const { return total_; }

	// Index of a bucket: its power of two * `buckets` + its number within that power.
	static constexpr std::size_t max_buckets = (65 - sub_bits) * buckets;
	static std::uint64_t last_of(std::size_t bucket)
	{
		return last_of(static_cast<unsigned>(bucket / buckets), bucket % buckets);
	}
	// Calls visit(power, counts of its buckets) for every power of two that has values, in order.
	template <class Visit> void visit_powers(Visit &&visit) const
	{
		for (unsigned power = 0; power < powers_.size(); ++power)
			if (!powers_[power].empty())
				visit(power, powers_[power]);
	}

	// Calls visit(first, last, count) for every bucket that has values, in order.
	template <class Visit> void visit(Visit &&visit) const
	{
		for (unsigned power = 0; power < powers_.size(); ++power)
			for (std::size_t i = 0; i < powers_[power].size(); ++i)
				if (powers_[power][i])
					visit(first_of(power, i), last_of(power, i), powers_[power][i]);
	}

	template <class Visit> void visit_back(Visit &&visit) const
	{
		for (auto power = static_cast<unsigned>(powers_.size()); power-- > 0;)
			for (std::size_t i = powers_[power].size(); i-- > 0;)
				if (powers_[power][i])
					visit(first_of(power, i), last_of(power, i), powers_[power][i]);
	}

	// The upper end of the bucket of the rank-th smallest value, counted from 1; 0 if there are no values.
	std::uint64_t at_rank(std::uint64_t rank) const
	{
		std::uint64_t before = 0, found = 0;
		visit([&](std::uint64_t, std::uint64_t last, std::uint64_t count) {
			if (before < std::max<std::uint64_t>(rank, 1))
				found = last;
			before += count;
		});
		return found;
	}
	// The upper end of the bucket of the p-quantile (p from 0 to 1); 0 if there are no values.
	std::uint64_t percentile(double p) const { return at_rank(nearest_rank(p, total_)); }

private:
	// 0 for values below `buckets`, then one for each power of two.
	static unsigned power_of(std::uint64_t value)
	{
		return value < buckets ? 0 : static_cast<unsigned>(std::bit_width(value)) - sub_bits;
	}
	static std::uint64_t first_of(unsigned power, std::size_t i)
	{
		return power == 0 ? i : (buckets + i) << (power - 1);
	}
	static std::uint64_t last_of(unsigned power, std::size_t i)
	{
		return power == 0 ? i : ((buckets + i + 1) << (power - 1)) - 1;
	}

	std::vector<std::vector<std::uint64_t>> powers_; // a power without values is empty
	std::uint64_t total_ = 0;
};

using Histogram = BasicHistogram<7>;
using CoarseHistogram = BasicHistogram<3>;

} // namespace monitor
