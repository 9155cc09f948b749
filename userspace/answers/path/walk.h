// SPDX-License-Identifier: MIT
// The path that led to where a thread is at a moment, followed backwards through the stretches (stretches.h). A sleep
// that a thread ended leads to that thread, at that moment; so does the creation of a thread. One that ended with what
// a thread had begun earlier (Lead), such as a request, is a link since then, and leads there. Any other sleep, a wait
// for a CPU and what a thread runs are links of the path.
//
// Critical: it does not return to who slept, so what it shows is what would have to be faster. But from threads outside
// (`is_inside`) it does, else it drifts away in workers that serve everybody. Bounded: it always does, where the sleep
// began: what others did while this thread slept.
// Invariant: links touch, none is empty, the first begins where the path does and the last ends where it ends: their
// lengths sum to its length exactly.
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
	std::uint32_t thread = nobody;    // by place in Stretches::threads(); nobody: here a path ends
	std::uint32_t sleep : 31 = 0;     // that this is within, by place in Paths::sleeps()
	std::uint32_t is_cut : 1 = 0;     // the stretch ends later
};
static_assert(sizeof(Link) <= 24);

// That a path led from to who ended it, and will return to.
struct Sleep {
	std::uint32_t outer = 0; // by place; the first one is none, and its own
	std::uint32_t thread = 0;
	std::uint32_t call = 0; // Stretch::where
};

// Of the thread at this place.
using IsInside = std::function<bool(std::uint32_t thread)>;

class Paths {
public:
	// `is_nested`: with the sleeps that links are within.
	explicit Paths(const Stretches &stretches, bool is_nested = true)
	    : threads_(stretches.threads()), leads_(stretches.leads()), is_nested_(is_nested)
	{
	}

	// `range`: the part that is wanted of the path that ends at `end`.
	void add_critical(std::uint32_t thread, trace::TimeRange range, std::uint64_t end, const IsInside &is_inside);
	void add_bounded(std::uint32_t thread, trace::TimeRange range, std::uint64_t end, std::uint32_t sleep = 0);
	// A sleep that is none, for `sleep`: what several paths are within tells them apart.
	std::uint32_t add_root();

	// Of each path in order, then one that ends it.
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
	void before_first(const ThreadStretches &of, std::uint64_t bound);
	bool leads_on(const Stretch &stretch) const;
	void follow_lead(const Stretch &stretch, std::uint64_t bound);
	const ThreadStretches::Exchange *last_exchange(const ThreadStretches &of) const;
	void jump(std::uint32_t to, std::uint32_t sleep);
	void emit(std::uint64_t begin, const Stretch *stretch, bool is_cut = false);
	std::uint32_t sleep_in(std::uint32_t call);

	const std::deque<ThreadStretches> &threads_;
	const std::vector<Lead> &leads_;
	const bool is_nested_;
	std::deque<Link> links_; // no room for twice as many
	std::vector<Sleep> sleeps_ = {{}};
	std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> known_sleeps_;
	std::uint64_t total_ = 0;

	// Of the path that is followed: where it is.
	const IsInside *is_inside_ = nullptr; // null: bounded
	std::uint32_t thread_ = 0, sleep_ = 0;
	std::uint64_t time_ = 0;
	std::uint64_t wanted_to_ = 0;
	std::uint32_t jumps_ = 0; // at this moment
	bool has_exchanged_ = false;
	std::vector<Frame> frames_;
};

} // namespace monitor::path
