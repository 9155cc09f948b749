// SPDX-License-Identifier: MIT
// The newest wake-ups and events of programs before the current moment. An observer of the fold. Names are those that
// the threads had then.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "placement.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::play {

struct Party {
	std::int32_t tid = -1;       // -1: not a thread, or unknown
	std::string thread, process; // names; of an interrupt: its label

	bool is_known() const { return tid >= 0 || !thread.empty(); }
};

// A thread slept and was woken.
struct WakeUp {
	std::uint64_t time = 0, slept = 0; // ticks
	Party waker, wakee;
	std::string call; // in which it slept; "": none, or unknown
};

// A program posted an event of its own.
struct Posted {
	std::uint64_t time = 0;
	Party by;
	std::string event;
};

class Recent final : public analyze::Observer {
public:
	static constexpr std::size_t max_kept = 512; // of each

	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override;
	void user_event(const analyze::Thread &thread, const trace::Event &event) override;
	void exchanged(const analyze::Thread &one, const analyze::Thread &other) override;

	// Observes this fold from now on, and notifies `placement` of exchanged numbers; both must outlive it or the
	// next call.
	void watch(analyze::ThreadFold &fold, Placement &placement);

	const std::deque<WakeUp> &wake_ups() const { return wake_ups_; } // the newest last
	const std::deque<Posted> &posted() const { return posted_; }

private:
	const analyze::ThreadFold *fold_ = nullptr;
	Placement *placement_ = nullptr;
	std::deque<WakeUp> wake_ups_;
	std::deque<Posted> posted_;
};

// A thread's displayed name: for those that `record -p` did not select, only switches were recorded.
std::string name_of(const analyze::Thread &thread);

} // namespace monitor::play
