// SPDX-License-Identifier: MIT
// An activity that has ended, and its observers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reading/analyze/counter_fold.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::activities {

// An interval of one thread, or a sum of intervals, in ticks. What is in none of the three parts is unknown.
struct Span {
	std::uint64_t ticks = 0, cpu = 0, waiting = 0, blocked = 0;

	std::uint64_t unknown() const { return ticks - cpu - waiting - blocked; }
	Span &operator+=(const Span &other);
	Span &operator-=(const Span &other); // subtracts each part
};

enum class ActivitySource : std::uint8_t { system_call, blocked, program };

// Instead of an activity's number: no activity, or one of those for which statistics had no space.
inline constexpr std::uint32_t no_activity = ~0u, other_activities = ~1u;

// The 16-bit argument of the event that started an activity.
struct Argument {
	bool has_value = false; // else the class has no field for it
	bool is_hex = false, is_signed = false;
	std::uint32_t number = 0;
	std::int64_t signed_number = 0;
	const std::string *label = nullptr; // from the description; null: it has none

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
	bool was_refused = false; // a system call without an entry: it started at `end` or earlier
	// Of a program's activity:
	Span span = {};
	Span inclusive = {};                // `span` plus the nested activities of the same row
	std::uint64_t exclusive = 0;        // ticks, without the directly nested activities
	std::uint32_t caller = no_activity; // the activity in which it is directly nested
	const Argument *argument = nullptr;
	bool is_nested = false; // nested in another one of the same row
	// Until when another, overlapping activity of the same row was open; `begin` if there was none.
	std::uint64_t alone_from = 0;
	bool overlaps = false;  // it started inside an activity that ended before it
	bool is_certain = true; // false: the end may belong to another open one, so only the sum of all is known
	bool was_left = false;  // a function left by an exception or longjmp: it ended at `end` or earlier
	// What was counted up to the last reading made inside, since the reading before the first; null without
	// counters.
	const analyze::CounterSums *counted = nullptr;
	// What the first set counted between the boundaries; null if the program did not report its counters at both.
	const std::vector<std::uint64_t> *counted_at_boundaries = nullptr;
};

class Observer {
public:
	virtual ~Observer() = default;
	virtual void finished(const Finished &activity) = 0;
	// A sum of activities; `activity` has no times.
	virtual void summed(const Finished & /*activity*/, const analyze::Summed &) {}
	// Activities were passed on as nested in one that turns out to have no end: takes their sum, `inner.span`,
	// back.
	virtual void not_nested(const Finished & /*inner*/) {}
};

// Events of programs that lack their other half.
struct Unpaired {
	std::uint64_t begins = 0, ends = 0;
};

} // namespace monitor::activities
