// SPDX-License-Identifier: MIT
// Whether an exec explains that another thread runs than the last switch said. A thread that is not the first of its
// process exchanges its number with the first one when it calls exec (de_thread in the kernel's fs/exec.c). The
// exchange has no token: the first to show it is a switch away from one of the two under the other's number, the next
// call or fault of it behind a hidden thread (thread_runs), or the token of the exec. These are the rules; ThreadFold
// exchanges what the two threads are doing.
#pragma once

#include <cstdint>
#include <vector>

#include "thread.h"

namespace monitor::analyze {

class ExecExchange {
public:
	// The last switch to this CPU was to `ran`, the switch away names `left`: true if the two have exchanged
	// numbers.
	bool explains_switch(const Thread &ran, const Thread &left, std::uint64_t time, const Cpu &cpu);
	// `runs` made a call or a fault where `ran` was switched in.
	static bool explains_runner(const Thread &ran, const Thread &runs) { return may_exchange(ran, runs); }
	// `runs` is on the CPU of `ran`, whose process no token has named so far, as before the threads are listed:
	// true if this is no contradiction until the end, because the token of an exec may still explain it.
	bool may_explain(const Thread &ran, const Thread &runs, std::uint64_t time, const Cpu &cpu);

	enum class Shown : std::uint8_t {
		nothing,   // the thread had this number, or an earlier token showed it
		exchange,  // the two threads exchange numbers now
		take_over, // the thread takes the number, in an exchange that no switch showed
	};
	// The token of an exec: the thread that was `before` now has the number of `thread`; null: no token named it.
	// `runs`: it is on the token's CPU.
	Shown executed(const Thread &thread, const Thread *before, std::int32_t before_tid, bool runs,
		       bool before_known);

	// An exchange of numbers between threads of unknown processes: only the token of an exec will confirm it.
	struct UnconfirmedExchange {
		std::int32_t tid, old_tid;
		std::uint64_t time;
		std::uint32_t cpu;
		bool is_done; // done at once, as nothing but switches is known of them
	};
	// The exchanges that no token has confirmed.
	const std::vector<UnconfirmedExchange> &unconfirmed() const { return unconfirmed_; }

private:
	static bool may_exchange(const Thread &ran, const Thread &left);

	std::vector<UnconfirmedExchange> unconfirmed_;
};

} // namespace monitor::analyze
