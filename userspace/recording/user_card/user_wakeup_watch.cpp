// SPDX-License-Identifier: MIT
#include "user_wakeup_watch.h"

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

void WakeupWatch::begin(std::uint64_t now)
{
	now_ = now;
	must_poll_ = connects_ = found_woken_ = false;
	to_wait_for_.clear();
}

void WakeupWatch::update(std::uint32_t &word, WakeupState &state, bool needed)
{
	const std::uint32_t untrusted_value = __atomic_load_n(&word, __ATOMIC_ACQUIRE);
	if (untrusted_value == EDC_BELL_NONE) {
		must_poll_ = true;
		state.first_seen = state.first_seen ? state.first_seen : now_;
		connects_ |= now_ - state.first_seen < ticks_per_second_ / connects_per_second;
		return;
	}
	if ((untrusted_value != EDC_BELL_QUIET || (wakeups_.woken() && wakeups_.which() == &word)) && !state.woken) {
		state.woken = found_woken_ = true;
		state.mute_ticks = needed ? 0 : next_mute_ticks(state.mute_ticks);
		state.muted_until = now_ + state.mute_ticks;
	}
	if (state.woken && now_ >= state.muted_until) {
		state.woken = false;
		__atomic_store_n(&word, EDC_BELL_QUIET, __ATOMIC_SEQ_CST);
	}
	if (!state.woken && to_wait_for_.size() < UserWakeups::max_futexes)
		to_wait_for_.push_back(&word);
	else if (!state.woken)
		must_poll_ = true;
}

void WakeupWatch::end()
{
	must_poll_ |= !to_wait_for_.empty() && !wakeups_.works();
	if (wakeups_.woken() && !has_unknown_waker_) {
		poll_ticks_ = found_woken_ ? 0 : next_mute_ticks(poll_ticks_);
		poll_until_ = now_ + poll_ticks_;
		has_unknown_waker_ = !found_woken_;
	}
	if (now_ < poll_until_) {
		must_poll_ = true;
		return;
	}
	has_unknown_waker_ = false;
	if (!wakeups_.woken() && to_wait_for_ == waited_for_)
		return;
	waited_for_ = to_wait_for_;
	wakeups_.wait_for(waited_for_);
}

std::chrono::nanoseconds WakeupWatch::longest_wait() const
{
	if (connects_)
		return connect_interval;
	return must_poll_ ? poll_interval : std::chrono::nanoseconds::max();
}

std::uint64_t WakeupWatch::next_mute_ticks(std::uint64_t before) const
{
	const std::uint64_t least = ticks_per_second_ / min_pauses_per_second;
	return std::clamp(2 * before, least, max_pause * least);
}

} // namespace monitor::card
