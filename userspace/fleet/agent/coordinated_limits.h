// SPDX-License-Identifier: MIT
// Limits how often other, perhaps hostile, hosts may make this host take a snapshot of one run. Invariant: use()
// permits at most `max` in all, and one in any interval of `apart`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace monitor::agent {

class CoordinatedLimits {
public:
	using Clock = std::chrono::steady_clock;
	static constexpr std::chrono::seconds apart{1};

	explicit CoordinatedLimits(std::uint64_t max) : max_(max) {}

	// "": permitted and counted; else the reason, as the end of a message.
	std::string use(Clock::time_point now)
	{
		if (used_ >= max_)
			return fmt::format(
			    "triggers of other hosts have made it take {} already, as many as --snapshots", max_);
		if (last_ && now - *last_ < apart)
			return "another one did less than a second ago";
		last_ = now;
		++used_;
		return "";
	}

private:
	std::uint64_t max_, used_ = 0;
	std::optional<Clock::time_point> last_;
};

} // namespace monitor::agent
