// SPDX-License-Identifier: MIT
// An activity that has ended, and its observers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reading/analyze/counter_fold.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::activities {

// An interval of one thread, or a sum of intervals; what is in none of the three parts is unknown. In ticks.
struct Span {
	std::uint64_t ticks = 0, cpu = 0, waiting = 0, blocked = 0;

	std::uint64_t unknown() const { return ticks - cpu - waiting - blocked; }
	Span &operator+=(const Span &other);
	Span &operator-=(const Span &other); // what it has of each
};

enum class ActivitySource : std::uint8_t { system_call, blocked, program };

// In place of the number of a program's activity: there is none, and any of those that found no room in statistics.
inline constexpr std::uint32_t no_activity = ~0u, other_activities = ~1u;

// The 16-bit argument of the event that began an activity.
struct Argument {
	bool has_value = false; // else the class has no field for it
	bool is_hex = false, is_signed = false;
	std::uint32_t number = 0;
	std::int64_t signed_number = 0;
	const std::string *label = nullptr; // of the description; null: none

	std::string text() const; // "" if it is a plain number
};

// An activity that has ended. References and pointers are valid during the call.
struct Finished {
	ActivitySource source;
	const analyze::Thread &thread;
	std::uint64_t begin, end; // ticks
	std::uint32_t number;     // analyze::call_of() or EDC_NO_SYSCALL; of the program's activity: ActivityNames
	std::int64_t result = 0;  // of a system call
	analyze::Waker waker = {};
	bool was_refused = false; // a system call without an entry: it began at `end` or before
	// Of a program's activity:
	Span span = {};
	Span inclusive = {};                // `span` without the activities of the same row inside
	std::uint64_t exclusive = 0;        // ticks, without the activities directly inside
	std::uint32_t caller = no_activity; // that it is directly inside of
	const Argument *argument = nullptr;
	bool is_nested = false; // inside another one of the same row
	// Of the same row another one was open from `begin` until then, or longer, and has ended; `begin` if none was.
	std::uint64_t alone_from = 0;
	bool overlaps = false;  // it began inside an activity that ended before it
	bool is_certain = true; // else the end may be another one's, which was open, too: only the sum of all is known
	bool was_left = false;  // a function's, by an exception or a jump: it ended at `end` or before
	// What was counted between the readings made inside, and the reading before; null if there are no counters.
	const analyze::CounterSums *counted = nullptr;
	// Of the first set, between the boundaries; null if the program did not report its counters at both.
	const std::vector<std::uint64_t> *counted_at_boundaries = nullptr;
};

class Observer {
public:
	virtual ~Observer() = default;
	virtual void finished(const Finished &activity) = 0;
	// Several of them; `activity` has no times.
	virtual void summed(const Finished & /*activity*/, const analyze::Summed &) {}
	// The activity around some that were said to be nested never ends: `inner.span` is theirs together.
	virtual void not_nested(const Finished & /*inner*/) {}
};

// Events of programs without a partner.
struct Unpaired {
	std::uint64_t begins = 0, ends = 0;
};

} // namespace monitor::activities
