// SPDX-License-Identifier: MIT
// Divides each thread's kernel time and sleeps among system calls and page faults. An observer of the ThreadFold, which
// has the sums of all modes.
// The kernel's code before a call's entry token and after the exit token of the previous one is outside all brackets,
// so it is unattributed (Documentation/how-time-is-attributed.md). Here it is counted with the call, or the fault, that
// it leads to: a call that is made twice as often takes twice of both. Invariant: for each thread, the parts never
// exceed the ThreadFold's time in the same mode.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "reading/analyze/thread_fold.h"
#include "rows.h"

namespace monitor::diff {

// Selected by -p, or of the recorded command.
bool is_ours(const analyze::Thread &thread, Ours ours);

class CallTimes : public analyze::Observer, public analyze::TimeObserver {
public:
	struct CallTime {
		std::uint64_t kernel = 0, path = 0, count = 0; // path: the code before it, unattributed
	};
	struct SleepTime {
		std::uint64_t ticks = 0, count = 0;
	};
	enum class EndedBy : std::uint8_t { other, own, recorder }; // own: another thread of ours
	struct SleepKey {
		std::uint32_t call = 0;
		EndedBy ended_by = EndedBy::other;

		auto operator<=>(const SleepKey &) const = default;
	};
	struct ThreadTimes {
		std::map<std::uint32_t, CallTime> calls;
		std::map<SleepKey, SleepTime> sleeps;
		CallTime faults;
		std::uint64_t pending_path = 0; // belongs to the call or fault that follows
	};

	CallTimes(const Plan &plan, const analyze::RecordingInfo &info)
	    : ours_(plan.ours), same_wakers_(plan.same_wakers), info_(info)
	{
	}

	void system_call(const analyze::Thread &thread, std::uint32_t number, std::uint64_t, std::uint64_t,
			 std::int64_t) override;
	void refused_call(const analyze::Thread &thread, std::uint32_t call, std::uint64_t, std::int64_t) override;
	void sleeps(const analyze::Thread &thread, std::uint32_t call, const analyze::Waker &waker,
		    const analyze::Summed &summed) override;
	void spent(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to, analyze::Mode mode,
		   bool is_idle) override;
	void moved(const analyze::Cpu &cpu, analyze::Mode from, analyze::Mode to, std::uint64_t ticks) override;
	void slept(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker,
		   bool is_over) override;

	// When the recorder let the command start; 0: not in the window.
	std::uint64_t command_start() const { return command_start_; }
	// What ended a sleep that began at `from`.
	EndedBy ended_by(const analyze::Thread &thread, std::uint64_t from, const analyze::Waker &waker) const;
	// nullptr: it has none.
	const ThreadTimes *find(const analyze::Thread &thread) const;

private:
	bool is_by_own(const analyze::Thread &thread, const analyze::Waker &waker) const;
	bool is_before_start(const analyze::Thread &thread, std::uint64_t from, const analyze::Waker &waker) const;

	Ours ours_;
	bool same_wakers_;
	const analyze::RecordingInfo &info_;
	std::uint64_t command_start_ = 0;
	std::unordered_map<const analyze::Thread *, ThreadTimes> threads_;
};

} // namespace monitor::diff
