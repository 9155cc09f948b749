// SPDX-License-Identifier: MIT
// The path that led to a thread's end, followed backwards through the stretches (stretches.h). From a sleep that
// another thread ended the path goes on in that thread, at the moment of the wake-up; from a thread's creation, in its
// creator; from the time of the exit_group or exec that ended a thread, in who called it, if the path is critical. A
// sleep that ended with work that a thread had started earlier (Lead) is a link since that start, and the path goes on
// in that thread. Any other sleep, a stop by a signal, waits for a CPU and running time are links.
//
// Critical: the path does not return to the sleeper, so it shows what would have to be faster. From threads outside
// (`is_inside`) it does return, where the sleep began: else it would drift off into workers that serve everybody.
// Bounded: it always returns, and shows what others did while the thread slept. Invariant: links touch and are not
// empty, and their lengths sum to that of the path exactly.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "stretches.h"

namespace monitor::path {

struct Link {
	std::uint64_t begin = 0;          // ends where the next one begins
	const Stretch *stretch = nullptr; // null: nothing is known of the thread then
	std::uint32_t thread = nobody;    // index in Stretches::threads(); nobody: here a path ends
	std::uint32_t sleep : 31 = 0;     // the enclosing one, an index in Paths::sleeps()
	std::uint32_t is_cut : 1 = 0;     // the stretch ends later
};
static_assert(sizeof(Link) <= 24);

// A sleep from which a path went on in another thread, and to which it returns.
struct Sleep {
	std::uint32_t outer = 0; // index of the enclosing one; 0: none
	std::uint32_t thread = 0;
	std::uint32_t call = 0; // Stretch::where
	std::uint32_t name = 0; // that the thread had then, a number of Stretches::names()
};

// Whether a thread, by index, is of the command or process whose path it is.
using IsInside = std::function<bool(std::uint32_t thread)>;

class Paths {
public:
	// `is_nested`: links have the sleep that they are within.
	explicit Paths(const Stretches &stretches, bool is_nested = true)
	    : threads_(stretches.threads()), leads_(stretches.leads()), is_nested_(is_nested)
	{
	}

	// Both add the links that are in `range` of the path that ends at `end`.
	void add_critical(std::uint32_t thread, trace::TimeRange range, std::uint64_t end, const IsInside &is_inside);
	void add_bounded(std::uint32_t thread, trace::TimeRange range, std::uint64_t end, std::uint32_t sleep = 0);
	// Adds an entry to sleeps() that is no sleep: passed as `sleep`, it marks the links of one path among several.
	std::uint32_t add_root();

	// Of each path: its links in order, then one whose thread is `nobody`.
	const std::deque<Link> &links() const { return links_; }
	const std::vector<Sleep> &sleeps() const { return sleeps_; }
	std::uint64_t end_of(std::size_t link) const { return links_[link + 1].begin; }
	std::uint64_t total() const { return total_; }

private:
	struct Frame { // to return to
		std::uint32_t thread, sleep;
		std::uint64_t begin; // of its sleep
	};

	void follow(std::uint32_t thread, trace::TimeRange range, std::uint64_t end, std::uint32_t sleep);
	void step(std::uint64_t first);
	void go_to_creator(const ThreadStretches &of, std::uint64_t bound);
	bool was_woken_by_thread(const Stretch &stretch) const;
	void follow_lead(const Stretch &stretch, std::uint64_t bound);
	const ThreadStretches::Exchange *last_exchange(const ThreadStretches &of) const;
	void jump(std::uint32_t to, std::uint32_t sleep);
	void add_link(std::uint64_t begin, const Stretch *stretch, bool is_cut = false);
	std::uint32_t sleep_in(const Stretch &stretch);

	const std::deque<ThreadStretches> &threads_;
	const std::vector<Lead> &leads_;
	const bool is_nested_;
	std::deque<Link> links_; // a vector needs room for twice as many while it grows
	std::vector<Sleep> sleeps_ = {{}};
	std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> known_sleeps_;
	std::uint64_t total_ = 0;

	// Where the walk is.
	const IsInside *is_inside_ = nullptr; // null: bounded
	std::uint32_t thread_ = 0, sleep_ = 0;
	std::uint64_t time_ = 0;
	std::uint64_t wanted_to_ = 0;
	std::uint32_t jumps_ = 0; // at this moment
	bool has_exchanged_ = false;
	std::vector<Frame> frames_;
};

} // namespace monitor::path
