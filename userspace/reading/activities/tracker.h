// SPDX-License-Identifier: MIT
// Tracker: finds the activities of a trace with the kernel's events or programs' own, and passes each on when it ends.
//
//     ThreadFold -> Tracker -> Observers: Totals (totals.h) for reports, rows of SQL (answers/query/activity_table.h)
//
// Three sources: system calls and blocked times, which ThreadFold finds as it folds states, and the activities that
// programs mark. A pair of user event classes NAME_begin and NAME_end is such an activity; those of a thread that are
// open form a stack, and what the scheduler's tokens say about the thread in that time is passed on with them.
//
// A function that was recorded (record --functions) is one, too. Its entry and its exit have the stack pointer, so that
// one that an exception or longjmp left, whose exit never comes, is known to be over at the next token of a function
// that was called by its caller, or by one further out, or with its thread. If its exit comes after all, the thread has
// several stacks, as fibers have: from then on the stack pointer says which function an exit belongs to, and no more.
//
// Activities of one thread need not be inside each other: an event loop begins many before it ends the first. An end
// that has the argument of an open begin ends that one. Where arguments do not say which of several an event ends, it
// is passed on as the innermost one's and said not to be certain.
//
// Nothing is guessed: a begin or an end without a partner is only counted. Classes and events are untrusted: depth and
// the number of open activities are bounded. An activity belongs to the fold's window if it ends there. One thread.
// Invariant: a frame is on the stack of the thread that began it; the parts of a Span never exceed its ticks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
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

enum class Source : std::uint8_t { system_call, blocked, program };

// In place of the number of a program's activity: there is none, and any of those beyond the limit of statistics.
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
	Source source;
	const analyze::Thread &thread;
	std::uint64_t begin, end; // ticks
	std::uint32_t number;     // analyze::call_of() or EDC_NO_SYSCALL; of the program's activity: Tracker::names()
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

class Tracker : public analyze::Observer {
public:
	static constexpr std::size_t max_depth = 256;     // open activities of a thread
	static constexpr std::size_t max_open = 1u << 20; // of all threads
	static constexpr std::uint32_t none = no_activity;

	struct Options {
		// Activities of one thread are in one row if their names are equal; or their names and arguments.
		bool rows_by_argument = false;
		// Null, or fed before this by the same ThreadFold.
		const analyze::CounterFold *counters = nullptr;
		// Blocked times are followed by a Summed of the time that the thread then waited for a CPU.
		bool with_transfers = false;
	};

	Tracker(const analyze::FoldInput &source, const analyze::ThreadFold &fold, Options options);

	// As ThreadFold::add_stream(), ThreadFold::add_classes().
	void add_stream(const trace::StreamInfo &stream);
	void add_classes(const trace::Description &description);

	void add(activities::Observer &observer) { observers_.push_back(&observer); }

	void system_call(const analyze::Thread &thread, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
			 std::int64_t result) override;
	void refused_call(const analyze::Thread &thread, std::uint32_t call, std::uint64_t end,
			  std::int64_t result) override;
	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override;
	void got_cpu(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void system_calls(const analyze::Thread &thread, std::uint32_t number, const analyze::Summed &summed) override;
	void sleeps(const analyze::Thread &thread, std::uint32_t call, const analyze::Waker &waker,
		    const analyze::Summed &summed) override;
	void activities(const analyze::Thread &thread, std::uint32_t activity, std::uint32_t caller,
			const analyze::Summed &summed) override;
	void user_event(const analyze::Thread &thread, const trace::Event &event) override;
	void user_gap(const trace::StreamInfo &stream, std::uint32_t process) override;
	void function(const analyze::Thread &thread, const analyze::FunctionToken &token) override;
	// The functions that it is in are left.
	void ended(const analyze::Thread &thread, std::uint64_t time) override;
	// What it had begun has no end.
	void forgotten(const analyze::Thread &thread) override;
	// After the last event: what is open has no end.
	void finish();

	// How many threads it knows something of.
	std::size_t threads() const { return stacks_.size() + calls_.size(); }
	// Which of a thread's activities that programs mark are open: by number in names(), `none` if there is none.
	struct Open {
		std::uint32_t outermost = none, innermost = none;
	};
	Open open_of(const analyze::Thread &thread) const;

	// Of the programs' activities that the trace describes.
	const std::vector<std::string> &names() const { return names_; }
	std::string label(std::uint32_t number) const;
	// What stands for it in statistics: EDC_ACTIVITY_*, EDC_NO_ACTIVITY.
	std::uint32_t id_of(std::uint32_t number) const;
	std::size_t open() const { return frames_; }
	bool has_functions() const { return !functions_.empty(); }
	const Unpaired &unpaired() const { return unpaired_; }
	// Functions that went on after they had been passed on as left.
	std::uint64_t resumed() const { return resumed_; }

private:
	// What an event class means.
	struct Role {
		std::uint32_t activity = none;
		bool begins = false;
		bool is_function = false; // `activity` is none: the event has which, and the stack pointer
		trace::FieldRef argument, stack_pointer;
		trace::FieldKind kind = trace::FieldKind::unsigned_integer;
		std::uint8_t base = 10;
	};
	struct Frame {
		std::uint32_t activity = 0;
		Argument argument;
		Span at_begin;          // ticks: the time; the others: what the thread had used
		bool overlaps = false;  // an activity around it has ended
		bool is_certain = true; // else an event that ended another one may have been its end
		Span alone; // as at_begin: since when none of its row is open that began before it and ends first
		std::uint64_t apart = 0;  // since when none around it is open that ends first
		std::uint64_t inside = 0; // ticks of the activities that ended directly inside
		Span nested;              // of its row, inside it
		analyze::CounterSums counted_at_begin;
		std::vector<std::uint64_t> boundary; // the counters at its begin; empty: unknown
		std::uint64_t stack_pointer = 0;     // of a function
	};
	struct Stack {
		std::uint32_t owner = none; // of the streams that its events are in: a process, or 0 for many
		bool listed = false;        // in open_[owner], at:
		std::size_t place = 0;
		std::uint64_t too_deep = 0;
		std::vector<Frame> frames;
		std::vector<std::uint64_t> boundary; // the counters that the thread reported ahead of its next event
		// Of functions:
		std::unordered_map<std::uint64_t, std::uint32_t> left; // without an exit, by stack pointer: which
		bool has_many = false;                                 // the thread changes from stack to stack
	};

	std::uint32_t number_with(std::uint32_t id) const;
	void find_names(const trace::Description &description);
	std::uint32_t number_of(const std::string &name, std::uint32_t id);
	void find_functions(const trace::Description &description);
	void name_functions(const trace::Enumeration &labels);
	bool is_left_out(std::uint32_t activity, std::uint64_t time) const;
	void leave(std::size_t place, Stack &stack, const analyze::Thread &thread, std::uint64_t time);
	void leave_below(Stack &stack, const analyze::Thread &thread, std::uint64_t stack_pointer, std::uint64_t time);
	void leave_at(Stack &stack, const analyze::Thread &thread, std::uint64_t stack_pointer, std::uint64_t time);
	void find_boundaries(const trace::Description &description);
	// Which of a thread's open activities an event ends.
	struct Choice {
		std::size_t place;
		bool by_argument, is_certain;
	};
	std::optional<Choice> choose(const Role &role, const Stack &stack, const trace::Event &event) const;
	static Argument argument_of(const Role &role, const trace::Event &event);
	Stack &stack_of(const analyze::Thread &thread, std::uint32_t owner);
	void unlist(Stack &stack);
	bool are_one_row(const Frame &one, const Frame &other) const;
	Frame *around(Stack &stack, std::size_t place) const;
	Frame &open(std::uint32_t activity, Stack &stack, const analyze::Thread &thread, std::uint64_t time);
	void count_from_here(Frame &frame, Stack &stack, const analyze::Thread &thread);
	bool make_room(Stack &stack, const analyze::Thread &thread);
	void begin(const Role &role, Stack &stack, const analyze::Thread &thread, const trace::Event &event);
	void end(const Role &role, Stack &stack, const analyze::Thread &thread, const trace::Event &event);
	void end_at(std::size_t place, Stack &stack, const analyze::Thread &thread, std::uint64_t time,
		    bool was_left = false);
	void outlive(std::size_t place, Stack &stack, const analyze::Thread &thread, std::uint64_t time);
	void pass_on(Finished &activity, const Frame &frame, const Stack &stack);
	std::vector<std::uint64_t> counted_between(const std::vector<std::uint64_t> &begin,
						   const std::vector<std::uint64_t> &end) const;
	void forget_at(std::size_t place, Stack &stack, const analyze::Thread &thread);
	void forget(Stack &stack, const analyze::Thread &thread);
	void forget_owner(std::uint32_t owner);
	void forget_all();

	const analyze::ThreadFold &fold_;
	Options options_;
	std::vector<activities::Observer *> observers_;
	std::set<std::string> partial_; // classes of which events were left out
	std::vector<std::string> names_;
	std::vector<std::uint32_t> ids_;               // by number, as names_
	std::map<std::string, std::uint32_t> numbers_; // of the activities that are no functions
	std::unordered_map<std::uint32_t, std::uint32_t> numbers_by_id_;
	std::vector<Role> roles_;          // by class index
	std::uint32_t boundary_id_ = none; // of the class by which threads report their counters
	std::vector<trace::FieldRef> boundary_fields_;
	std::unordered_map<std::uint32_t, std::uint32_t> functions_; // by number: its name
	std::unordered_map<std::uint32_t, std::uint64_t> left_out_;  // by name: since when it is not recorded
	std::set<std::uint32_t> interleaved_; // activities whose ends were seen to have their begins' arguments
	std::unordered_map<const analyze::Thread *, Stack> stacks_, calls_; // of activities, of functions
	// By owner: the threads whose stacks are not empty.
	std::unordered_map<std::uint32_t, std::vector<const analyze::Thread *>> open_;
	std::vector<bool> merged_; // by stream: of many processes
	std::vector<bool> in_gap_; // by stream
	struct Woken {
		std::uint32_t call; // that it slept in
		analyze::Waker waker;
		std::uint64_t time;
	};
	std::unordered_map<const analyze::Thread *, Woken> woken_; // who had no CPU since
	std::size_t frames_ = 0;                                   // of all stacks
	std::uint64_t latest_ = 0;                                 // event of a program
	std::uint64_t resumed_ = 0;
	Unpaired unpaired_;
};

} // namespace monitor::activities
