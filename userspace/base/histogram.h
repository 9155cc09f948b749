// SPDX-License-Identifier: MIT
// Values in log-linear buckets: 128 per power of two, so a percentile is within 1/128 (0.8 %) of its value, however
// many values there are; 1 KiB for each power of two. Used by the folds of reading/analyze/ and reading/activities/.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace monitor {

class Histogram {
public:
	void add(std::uint64_t value)
	{
		const unsigned power = power_of(value);
		if (power >= powers_.size())
			powers_.resize(power + 1);
		if (powers_[power].empty())
			powers_[power].resize(buckets);
		++powers_[power][value >> (power ? power - 1 : 0) & (buckets - 1)];
		++total_;
	}

	void merge(const Histogram &other)
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
	std::uint64_t percentile(double p) const
	{
		return at_rank(std::min(static_cast<std::uint64_t>(p * static_cast<double>(total_)) + 1, total_));
	}

private:
	static constexpr unsigned sub_bits = 7;
	static constexpr std::size_t buckets = std::size_t(1) << sub_bits;

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

} // namespace monitor
