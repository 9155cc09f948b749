// SPDX-License-Identifier: MIT
// The pending clock question, when the next one is due, and the last exchange. Has no clock, network or lock of its
// own.
// An answer may take as long as the network does: the next question is sent after it, or after a second without one.
// Invariant: at most one answer is accepted per question, and only for the last one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "fleet/wire/clock_message.h"

namespace monitor::fleet {

class PendingClockRequest {
public:
	using Clock = std::chrono::steady_clock;
	// Exchanges in a row at the start; then one each second.
	static constexpr std::uint64_t burst = 10;
	static constexpr auto burst_interval = std::chrono::milliseconds(50),
			      interval = std::chrono::milliseconds(1000);

	explicit PendingClockRequest(Clock::time_point now) : asked_at_(now) {}

	// When to send the next question, unless an answer changes it.
	Clock::time_point due() const
	{
		return asked_at_ + (t1_ == 0 && answered_ < burst ? burst_interval : interval);
	}
	void ask(std::uint64_t t1, Clock::time_point now)
	{
		t1_ = t1;
		asked_at_ = now;
	}
	// The question could not be sent.
	void withdraw() { t1_ = 0; }
	// False: the answer is to another question, such as an abandoned one.
	bool take(const ClockAnswer &untrusted_answer, std::uint64_t t4)
	{
		if (t1_ == 0 || untrusted_answer.t1 != t1_)
			return false;
		last_ = {t1_, untrusted_answer.t2, untrusted_answer.t3, t4};
		t1_ = 0;
		++answered_;
		return true;
	}

	const std::optional<ClockTimes> &last() const { return last_; }
	std::uint64_t answered() const { return answered_; }

private:
	std::uint64_t t1_ = 0; // 0: no answer is expected
	Clock::time_point asked_at_;
	std::optional<ClockTimes> last_;
	std::uint64_t answered_ = 0;
};

} // namespace monitor::fleet
