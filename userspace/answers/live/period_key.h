// SPDX-License-Identifier: MIT
// The owner of a sum of calls, sleeps or activities (period_sums.h, period_activities.h).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "reading/analyze/thread_fold.h"

namespace monitor::live {

// A running thread or, if it has ended, the index of a sum in PeriodSums::ended().
class PeriodKey {
public:
	PeriodKey() = default;
	explicit PeriodKey(const analyze::Thread &thread) : bits_(reinterpret_cast<std::uintptr_t>(&thread)) {}
	static PeriodKey ended(std::size_t index)
	{
		PeriodKey key;
		key.bits_ = index << 1 | 1;
		return key;
	}
	const analyze::Thread *thread() const
	{
		return is_ended() ? nullptr : reinterpret_cast<const analyze::Thread *>(bits_);
	}
	static constexpr std::size_t other = 0; // index of the sum of all beyond the limit

	bool is_ended() const { return bits_ & 1; }
	std::size_t index() const { return bits_ >> 1; }
	bool is_nobody() const { return bits_ == 0; }

	auto operator<=>(const PeriodKey &) const = default;

private:
	std::uint64_t bits_ = 0;
};

} // namespace monitor::live
