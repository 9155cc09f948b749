// SPDX-License-Identifier: MIT
// Waits of threads as stacks, for recordings without stacks: who slept, in which system call, and who woke it.
// Invariant: the sums are the fold's, except for times rounded to ns.
#pragma once

#include <cstdint>
#include <map>

#include "answers/report/profile.h"
#include "reading/analyze/thread_fold.h"
#include "reading/ctf/clock.h"

namespace monitor::exporting {

// An observer of ThreadFold.
class WaitFold : public analyze::Observer {
public:
	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override;

	// After ThreadFold::finish(). For threads that ran, as in `monitor report DIR offcpu`.
	report::Profile profile(const analyze::ThreadFold &fold, const trace::Clock &clock) const;

private:
	struct WaitKey {
		const analyze::Thread *thread;
		std::uint32_t call;
		const analyze::Thread *waker;
		std::int32_t interrupt;
		std::uint32_t number;

		auto operator<=>(const WaitKey &) const = default;
	};
	std::map<WaitKey, std::uint64_t> ticks_;
};

} // namespace monitor::exporting
