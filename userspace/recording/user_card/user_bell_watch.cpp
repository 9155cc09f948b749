// SPDX-License-Identifier: MIT
#include "user_bell_watch.h"

#include <algorithm>

#include "monitor/user_ring.h"

namespace monitor::card {
namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 40ms;
constexpr auto connect_interval = 2ms; // a burst at a program's start fills a ring within milliseconds
// A program waits for its rings for 200 ms at most. If it is silent longer, its version has no wake-ups.
constexpr std::uint64_t connects_per_second = 5;

// A needless wake-up mutes the process for 5 ms, doubled each time, up to 160 ms.
constexpr std::uint64_t min_pauses_per_second = 200, max_pause = 32;

} // namespace

void BellWatch::begin(std::uint64_t now)
{
	now_ = now;
	must_poll_ = connects_ = rung_was_found_ = false;
	quiet_.clear();
}

void BellWatch::update(std::uint32_t &word, Bell &bell, bool needed)
{
	const std::uint32_t untrusted_bell = __atomic_load_n(&word, __ATOMIC_ACQUIRE);
	if (untrusted_bell == EDC_BELL_NONE) {
		must_poll_ = true;
		bell.met = bell.met ? bell.met : now_;
		connects_ |= now_ - bell.met < ticks_per_second_ / connects_per_second;
		return;
	}
	if ((untrusted_bell != EDC_BELL_QUIET || (bells_.rung() && bells_.which() == &word)) && !bell.rung) {
		bell.rung = rung_was_found_ = true;
		bell.pause = needed ? 0 : longer(bell.pause);
		bell.from = now_ + bell.pause;
	}
	if (bell.rung && now_ >= bell.from) {
		bell.rung = false;
		__atomic_store_n(&word, EDC_BELL_QUIET, __ATOMIC_SEQ_CST);
	}
	if (!bell.rung && quiet_.size() < UserBells::most)
		quiet_.push_back(&word);
	else if (!bell.rung)
		must_poll_ = true;
}

void BellWatch::end()
{
	must_poll_ |= !quiet_.empty() && !bells_.works();
	if (bells_.rung() && !hidden_) {
		hidden_pause_ = rung_was_found_ ? 0 : longer(hidden_pause_);
		from_ = now_ + hidden_pause_;
		hidden_ = !rung_was_found_;
	}
	if (now_ < from_) {
		must_poll_ = true;
		return;
	}
	hidden_ = false;
	if (!bells_.rung() && quiet_ == heard_)
		return;
	heard_ = quiet_;
	bells_.wait_for(heard_);
}

std::chrono::nanoseconds BellWatch::longest_wait() const
{
	if (connects_)
		return connect_interval;
	return must_poll_ ? poll_interval : std::chrono::nanoseconds::max();
}

std::uint64_t BellWatch::longer(std::uint64_t pause) const
{
	const std::uint64_t least = ticks_per_second_ / min_pauses_per_second;
	return std::clamp(2 * pause, least, max_pause * least);
}

} // namespace monitor::card
