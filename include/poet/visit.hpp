// SPDX-License-Identifier: MIT
// Passes all events of a trace to a function: merged in one order, or each stream separately on several threads.
//
//     poet::visit(trace, [&](const poet::Event &event) { ++count[event.class_index()]; });
//     poet::visit_streams(trace, {}, threads, [&](unsigned worker, const poet::Event &event) { ... });
//
// Events cross the library boundary in batches, so the crossing costs a few nanoseconds per event. A visitor returns
// void or bool; false ends the visit. An exception it throws ends the visit and is rethrown. Memory does not grow with
// the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "event.hpp"
#include "filter.hpp"

namespace poet {

// What to visit: a range of times in ticks, both ends included, and in it the events that pass the filter. A gap that
// extends to `from` or beyond is visited too. The filter must live as long as the visit.
struct Selection {
	std::uint64_t from = 0;
	std::uint64_t to = std::numeric_limits<std::uint64_t>::max();
	const Filter *filter = nullptr;
};

namespace detail {

// The library boundary. Returning false ends the visit.
struct Visitor {
	void *self;
	bool (*on_events)(void *self, unsigned worker, const Event *events, std::size_t count);
	bool (*on_gap)(void *self, unsigned worker, const Gap &gap);
};

POET_API void visit_merged(const Trace &trace, const Selection &selection, const Visitor &visitor);
POET_API void visit_parallel(const Trace &trace, const Selection &selection, unsigned threads, const Visitor &visitor);

template <class Function, class... Arguments> bool goes_on(Function &function, Arguments &&...arguments)
{
	if constexpr (std::is_same_v<decltype(function(std::forward<Arguments>(arguments)...)), bool>) {
		return function(std::forward<Arguments>(arguments)...);
	} else {
		function(std::forward<Arguments>(arguments)...);
		return true;
	}
}

// Calls the functions with the worker's number or without it.
template <bool with_worker, class OnEvent, class OnGap> struct Both {
	OnEvent &on_event;
	OnGap &on_gap;

	static bool events(void *self, unsigned worker, const Event *events, std::size_t count)
	{
		OnEvent &on_event = static_cast<Both *>(self)->on_event;
		for (const Event *event = events; event != events + count; ++event) {
			bool more;
			if constexpr (with_worker)
				more = goes_on(on_event, worker, *event);
			else
				more = goes_on(on_event, *event);
			if (!more)
				return false;
		}
		return true;
	}
	static bool gap(void *self, unsigned worker, const Gap &gap)
	{
		OnGap &on_gap = static_cast<Both *>(self)->on_gap;
		if constexpr (with_worker)
			return goes_on(on_gap, worker, gap);
		else
			return goes_on(on_gap, gap);
	}
	Visitor visitor() { return {this, events, gap}; }
};

} // namespace detail

// By time, then by stream: on_event(const Event &), on_gap(const Gap &) where the loss began. Runs in the caller's
// thread. If the filter uses `tid` or `thread`, everything before `from` is read too.
template <class OnEvent, class OnGap>
void visit(const Trace &trace, const Selection &selection, OnEvent &&on_event, OnGap &&on_gap)
{
	detail::Both<false, std::remove_reference_t<OnEvent>, std::remove_reference_t<OnGap>> both{on_event, on_gap};
	detail::visit_merged(trace, selection, both.visitor());
}
template <class OnEvent> void visit(const Trace &trace, const Selection &selection, OnEvent &&on_event)
{
	visit(trace, selection, on_event, [](const Gap &) {});
}
template <class OnEvent> void visit(const Trace &trace, OnEvent &&on_event)
{
	visit(trace, Selection(), on_event);
}

// Each stream separately, in its own order, by one of the workers: on_event(unsigned worker, const Event &),
// on_gap(unsigned worker, const Gap &). Workers are numbered 0 to threads - 1 and run concurrently, so each must write
// only to its own data: use an array by worker and sum up afterwards. `threads` 0: one per CPU of the machine. Throws
// Error if the filter uses `tid` or `thread`.
template <class OnEvent, class OnGap>
void visit_streams(const Trace &trace, const Selection &selection, unsigned threads, OnEvent &&on_event, OnGap &&on_gap)
{
	detail::Both<true, std::remove_reference_t<OnEvent>, std::remove_reference_t<OnGap>> both{on_event, on_gap};
	detail::visit_parallel(trace, selection, threads, both.visitor());
}
template <class OnEvent>
void visit_streams(const Trace &trace, const Selection &selection, unsigned threads, OnEvent &&on_event)
{
	visit_streams(trace, selection, threads, on_event, [](unsigned, const Gap &) {});
}

} // namespace poet
