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
	// `ran`, by the last switch, left this CPU under the number of `left`: true if the two have exchanged numbers.
	bool explains_switch(const Thread &ran, const Thread &left, std::uint64_t time, const Cpu &cpu);
	// `runs` made a call or a fault where `ran` was switched in.
	static bool explains_runner(const Thread &ran, const Thread &runs) { return are_of_process(ran, runs); }
	// `runs` has the CPU of `ran`, whose process no token has named yet, as before the threads are listed: true if
	// that is no contradiction until the end, as the token of an exec may still say so.
	bool may_explain(const Thread &ran, const Thread &runs, std::uint64_t time, const Cpu &cpu);

	enum class Shown : std::uint8_t {
		nothing,   // the thread had this number, or an earlier token showed it
		exchange,  // of numbers, until now
		take_over, // of the number, in an exchange that no switch showed
	};
	// The token of an exec: who was `before` has the number of `thread`; null: no token named it. `runs`: it is on
	// the token's CPU.
	Shown executed(const Thread &thread, const Thread *before, std::int32_t before_tid, bool runs,
		       bool before_known);

	// An exchange of numbers of threads whose processes are unknown, which only the token of an exec will confirm.
	struct Supposed {
		std::int32_t tid, old_tid;
		std::uint64_t time;
		std::uint32_t cpu;
		bool is_done; // at once: only their switches are known
	};
	// Those that no token has confirmed.
	const std::vector<Supposed> &supposed() const { return supposed_; }

private:
	static bool are_of_process(const Thread &ran, const Thread &left);

	std::vector<Supposed> supposed_;
};

} // namespace monitor::analyze
