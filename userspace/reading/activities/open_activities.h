// SPDX-License-Identifier: MIT
// The open activities of threads, in the order of their begins: which one an event ends, what is known of it then, and
// what becomes of those that began after it.
//
// Those that have an argument of their own stay open when one around them ends: in an event loop they belong to other
// units of work. Each moment is in the sums of a row once: of two that overlap the later has what the earlier has not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "activity_names.h"
#include "finished.h"
#include "reading/analyze/counter_fold.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::activities {

class OpenActivities {
public:
	static constexpr std::size_t max_depth = 256;     // of a thread
	static constexpr std::size_t max_open = 1u << 20; // of all threads

	struct Frame {
		std::uint32_t activity = 0;
		Argument argument;
		Span at_begin;            // the time, and what the thread had used by then, in ticks
		bool overlaps = false;    // an activity around it has ended
		bool is_certain = true;   // false: an event that ended another one may have been its end
		Span alone;               // like at_begin: since no older activity of its row is open that ends first
		std::uint64_t apart = 0;  // since no activity around it is open that ends first
		std::uint64_t inside = 0; // ticks of the activities that ended directly inside
		Span nested;              // of its row, nested in it
		analyze::CounterSums counted_at_begin;
		std::vector<std::uint64_t> boundary; // the counters at its begin; empty: unknown
		std::uint64_t stack_pointer = 0;     // of a function
	};
	// The open activities of one thread.
	struct Stack {
		std::uint64_t too_deep = 0;
		std::vector<Frame> frames;
		std::vector<std::uint64_t> boundary; // counters that the thread reported for its next event
		// Of functions:
		std::unordered_map<std::uint64_t, std::uint32_t> left; // left without an exit, by stack pointer
		bool has_many = false;                                 // the thread switches between several stacks
	};
	// What an event ends: an activity's number, or `no_activity`.
	struct Ends {
		std::uint32_t outermost = no_activity, innermost = no_activity;
	};

	// `counters` may be null.
	OpenActivities(const ActivityNames &names, const analyze::ThreadFold &fold,
		       const std::vector<Observer *> &observers, bool rows_by_argument,
		       const analyze::CounterFold *counters);

	void begin(const Role &role, Stack &stack, const analyze::Thread &thread, const trace::Event &event);
	void end(const Role &role, Stack &stack, const analyze::Thread &thread, const trace::Event &event);
	void function(std::uint32_t activity, Stack &stack, const analyze::Thread &thread,
		      const analyze::FunctionToken &token);
	// Ends functions whose exit is missing: their frames would be below the stack pointer.
	void leave_below(Stack &stack, const analyze::Thread &thread, std::uint64_t stack_pointer, std::uint64_t time);
	// The thread's open activities have no end.
	void forget(Stack &stack, const analyze::Thread &thread);
	Ends ends_of(const Stack &stack) const;
	// After the last event: adds what the fold knows of.
	void finish();

	std::size_t size() const { return frames_; } // of all stacks
	const Unpaired &unpaired() const { return unpaired_; }
	std::uint64_t resumed() const { return resumed_; }

private:
	// Which of a thread's open activities an event ends.
	struct Choice {
		std::size_t index;
		bool by_argument, is_certain;
	};
	std::optional<Choice> choose(const Role &role, const Stack &stack, const trace::Event &event) const;
	static Argument argument_of(const Role &role, const trace::Event &event);
	bool are_one_row(const Frame &one, const Frame &other) const;
	Frame *around(Stack &stack, std::size_t index) const;
	Frame &open(std::uint32_t activity, Stack &stack, const analyze::Thread &thread, std::uint64_t time);
	void count_from_here(Frame &frame, Stack &stack, const analyze::Thread &thread);
	bool ensure_space(Stack &stack, const analyze::Thread &thread);
	void leave(std::size_t index, Stack &stack, const analyze::Thread &thread, std::uint64_t time);
	void leave_at(Stack &stack, const analyze::Thread &thread, std::uint64_t stack_pointer, std::uint64_t time);
	void end_at(std::size_t index, Stack &stack, const analyze::Thread &thread, std::uint64_t time,
		    bool was_left = false);
	void outlive(std::size_t index, Stack &stack, const analyze::Thread &thread, std::uint64_t time);
	void notify_observers(Finished &activity, const Frame &frame, const Stack &stack);
	std::vector<std::uint64_t> counted_between(const std::vector<std::uint64_t> &begin,
						   const std::vector<std::uint64_t> &end) const;
	void forget_at(std::size_t index, Stack &stack, const analyze::Thread &thread);

	const ActivityNames &names_;
	const analyze::ThreadFold &fold_;
	const std::vector<Observer *> &observers_;
	const bool rows_by_argument_;
	const analyze::CounterFold *const counters_;
	std::set<std::uint32_t> interleaved_; // with ends that were matched by their argument
	std::size_t frames_ = 0;
	std::uint64_t resumed_ = 0;
	Unpaired unpaired_;
};

} // namespace monitor::activities
