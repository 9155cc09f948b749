// SPDX-License-Identifier: MIT
// Durations in log-linear buckets: 32 per power of two, so a percentile is within 1/32 (3.2 %) of its value, whatever
// their number, in a few KiB. Used by activities.cpp.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace monitor::analyze {

class Histogram {
public:
	void add(std::uint64_t value)
	{
		const std::size_t bucket = bucket_of(value);
		if (bucket >= counts_.size())
			counts_.resize(bucket + 1);
		++counts_[bucket];
		++total_;
	}

	// The upper end of the bucket in which the p-th part (0 to 1) of the values ends; 0 if there are none.
	std::uint64_t percentile(double p) const
	{
		const auto rank = static_cast<std::uint64_t>(p * static_cast<double>(total_));
		std::uint64_t before = 0;
		for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
			before += counts_[bucket];
			if (before > rank || before == total_)
				return upper_end(bucket);
		}
		return 0;
	}

private:
	static constexpr unsigned sub_bits = 5;

	static std::size_t bucket_of(std::uint64_t value)
	{
		if (value < 1u << sub_bits)
			return value;
		const unsigned power = static_cast<unsigned>(std::bit_width(value)) - 1 - sub_bits;
		return ((power + 1) << sub_bits) + ((value >> power) & ((1u << sub_bits) - 1));
	}
	static std::uint64_t upper_end(std::size_t bucket)
	{
		if (bucket < 1u << sub_bits)
			return bucket;
		const std::size_t power = (bucket >> sub_bits) - 1;
		const std::uint64_t sub = (bucket & ((1u << sub_bits) - 1)) + (1u << sub_bits);
		return ((sub + 1) << power) - 1;
	}

	std::vector<std::uint32_t> counts_;
	std::uint64_t total_ = 0;
};

} // namespace monitor::analyze
