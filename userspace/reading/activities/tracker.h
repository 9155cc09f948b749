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
// Nothing is guessed: a start or an end without a partner is only counted. Classes and events are untrusted: depth and
// the number of open activities are bounded. An activity belongs to the fold's window if it ends there. One thread.
// Invariant: a frame is on the stack of the thread that began it; the parts of a Span never exceed its ticks.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "activity_names.h"
#include "finished.h"
#include "open_activities.h"
#include "reading/analyze/counter_fold.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::activities {

class Tracker : public analyze::Observer {
public:
	struct Options {
		// An activity's row is its name and argument, not its name only.
		bool rows_by_argument = false;
		// Null, or fed by the same ThreadFold before this.
		const analyze::CounterFold *counters = nullptr;
		// Blocked times are followed by a Summed of the time that the thread then waited for a CPU.
		bool with_transfers = false;
	};

	Tracker(const analyze::FoldInput &input, const analyze::ThreadFold &fold, Options options);
	Tracker(const Tracker &) = delete;
	Tracker &operator=(const Tracker &) = delete;

	// As ThreadFold::add_stream(), ThreadFold::add_classes().
	void add_stream(const trace::StreamInfo &stream);
	void add_classes(const trace::Description &description) { names_.add(description); }

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
	// Ends the functions that it is in.
	void ended(const analyze::Thread &thread, std::uint64_t time) override;
	// Its open activities have no end.
	void forgotten(const analyze::Thread &thread) override;
	// After the last event: open activities have no end.
	void finish();

	// The number of threads with state here.
	std::size_t threads() const { return stacks_.size() + calls_.size(); }
	// Which of a thread's activities that programs mark are open.
	using Ends = OpenActivities::Ends;
	Ends open_of(const analyze::Thread &thread) const;

	// The activities of programs in the trace's description.
	const std::vector<std::string> &names() const { return names_.all(); }
	std::string label(std::uint32_t number) const { return names_.label(number); }
	std::uint32_t id_of(std::uint32_t number) const { return names_.id_of(number); }
	std::size_t open() const { return open_.size(); }
	bool has_functions() const { return names_.has_functions(); }
	const Unpaired &unpaired() const { return open_.unpaired(); }
	// Functions that continued after they had been reported as left.
	std::uint64_t resumed() const { return open_.resumed(); }

private:
	struct Owned : OpenActivities::Stack {
		std::uint32_t owner = no_activity; // whose streams its events are in: a process, or 0 for several
		bool listed = false;               // in by_owner_[owner], at:
		std::size_t index = 0;
	};

	Owned &stack_of(const analyze::Thread &thread, std::uint32_t owner);
	void unlist(Owned &stack);
	void forget_owner(std::uint32_t owner);
	void forget_all();

	const bool with_transfers_;
	std::vector<activities::Observer *> observers_;
	ActivityNames names_;
	OpenActivities open_;
	std::unordered_map<const analyze::Thread *, Owned> stacks_;                // of activities
	std::unordered_map<const analyze::Thread *, OpenActivities::Stack> calls_; // of functions
	// By owner: the threads with open activities.
	std::unordered_map<std::uint32_t, std::vector<const analyze::Thread *>> by_owner_;
	std::vector<bool> merged_; // by stream: it has several processes
	std::vector<bool> in_gap_; // by stream
	struct Woken {
		std::uint32_t call; // the call in which it slept
		analyze::Waker waker;
		std::uint64_t time;
	};
	std::unordered_map<const analyze::Thread *, Woken> woken_; // threads woken that have not had a CPU since
	std::uint64_t latest_ = 0;                                 // time of the latest event of a program
};

} // namespace monitor::activities
