// SPDX-License-Identifier: MIT
// A trace cut into slices of time that can be read apart from each other, on as many CPUs as there are.
//
// The folds of this folder are run once per slice; their results are merged in the order of time (in_order()). The cuts
// depend on the trace alone, so results do not depend on the number of threads. A reader of a slice begins with the
// packets that the cut goes through: what is before the cut only tells which thread runs.
// Threads that the kernel hides are told by the recorder alone (Told): a reader of a slice knows those of before.
// Invariant: every event, and every gap's begin, is in exactly one slice.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "trace/merge.h"
#include "trace/threads.h"
#include "trace/trace.h"

namespace monitor::statistics {

// As much of the stream files as a slice has at most, about.
inline constexpr std::uint64_t usual_slice_bytes = 16u << 20;

// Of the range: in the order of time, without holes. A trace whose packets do not tell their times is one slice.
std::vector<trace::TimeRange> slices(const trace::Trace &trace, trace::TimeRange range,
				     std::uint64_t slice_bytes = usual_slice_bytes);

struct Hidden {
	std::uint64_t time = 0;
	std::uint32_t machine = 0;
	std::int64_t tid = 0;
};

// When the cursor of a stream has to begin, so that it is known who runs at `from`.
std::uint64_t warm_up(const trace::Stream &stream, std::uint64_t from);

// What a reader of a slice is to know of threads.
struct WhoRuns {
	trace::Threads *threads = nullptr; // a new one; or nullptr: nobody is known to run
	const std::vector<Hidden> *hidden = nullptr;
	bool by_name = false; // all that is before the slice is read for the names of threads
};

// Reads one slice. on_event(const Event &, running thread) for what is in it, on_gap(const StreamInfo &, discarded).
template <class OnEvent, class OnGap>
void read_slice(const trace::Trace &trace, trace::TimeRange slice, const WhoRuns &who, trace::Problems &problems,
		OnEvent &&on_event, OnGap &&on_gap)
{
	using trace::Cursor;
	std::vector<Cursor> cursors;
	cursors.reserve(trace.streams().size());
	trace::MergeHeap heap;
	trace::Threads *const threads = who.threads;
	const std::uint64_t known_from = who.by_name ? 0 : slice.from;
	if (threads)
		for (const Hidden &each : *who.hidden)
			if (each.time < known_from)
				threads->hide(each.machine, each.tid);
	for (const auto &stream : trace.streams()) {
		if (stream->is_foreign())
			continue;
		cursors.emplace_back(*stream, trace.description(), problems, trace.begin_time());
		cursors.back().start(threads ? warm_up(*stream, known_from) : slice.from);
		heap.push(cursors.back());
	}
	heap.make();
	bool is_before = threads != nullptr && !who.by_name;
	const auto visit = [&](const trace::Event &event) {
		if (is_before && event.time >= slice.from) {
			is_before = false;
			threads->forget_names(); // an earlier slice may know newer ones
		}
		const std::int64_t running = threads ? threads->before(event) : trace::Threads::unknown;
		if (event.time >= slice.from)
			on_event(event, running);
		if (threads)
			threads->after(event);
	};
	const std::uint64_t behind = slice.to + (slice.to + 1 != 0 ? 1 : 0);
	for (; !heap.empty() && heap.first_time() <= slice.to; heap.update()) {
		Cursor &cursor = heap.first();
		if (cursor.item() == Cursor::Item::event) {
			cursor.visit_before(std::min(heap.bound(), behind), visit);
			continue;
		}
		if (threads)
			threads->gap(cursor.stream().info());
		if (cursor.gap().from_time >= slice.from)
			on_gap(cursor.stream().info(), cursor.gap().discarded);
		cursor.advance();
	}
	for (Cursor &cursor : cursors)
		cursor.give_back();
}

// Runs work(slice) on `threads` threads and take(result) for each result in the order of the slices, in the caller's.
// At most two results per thread wait to be taken. What work throws is thrown here.
template <class Work, class Take>
void in_order(const std::vector<trace::TimeRange> &slices, unsigned threads, Work &&work, Take &&take)
{
	using Result = decltype(work(slices.front()));
	threads = static_cast<unsigned>(std::min<std::size_t>(threads, slices.size()));
	if (threads <= 1) {
		for (const trace::TimeRange &slice : slices)
			take(work(slice));
		return;
	}
	std::mutex mutex;
	std::condition_variable changed;
	std::map<std::size_t, Result> done;
	std::size_t next = 0, taken = 0;
	std::exception_ptr failure;
	const auto run = [&] {
		std::unique_lock lock(mutex);
		for (;;) {
			changed.wait(lock,
				     [&] { return failure || next >= slices.size() || next < taken + 2 * threads; });
			if (failure || next >= slices.size())
				return;
			const std::size_t mine = next++;
			lock.unlock();
			try {
				Result result = work(slices[mine]);
				lock.lock();
				done.emplace(mine, std::move(result));
			} catch (...) {
				if (!lock.owns_lock())
					lock.lock();
				failure = std::current_exception();
			}
			changed.notify_all();
		}
	};
	std::vector<std::jthread> workers;
	workers.reserve(threads);
	try {
		while (workers.size() < threads)
			workers.emplace_back(run);
	} catch (const std::exception &) { // fewer do it too
		if (workers.empty())
			throw;
	}
	std::unique_lock lock(mutex);
	while (taken < slices.size()) {
		changed.wait(lock, [&] { return failure || done.contains(taken); });
		if (failure)
			break;
		auto result = done.extract(taken);
		lock.unlock();
		try {
			take(std::move(result.mapped()));
		} catch (...) {
			lock.lock();
			failure = std::current_exception();
			break;
		}
		lock.lock();
		++taken;
		changed.notify_all();
	}
	const std::exception_ptr thrown = failure;
	changed.notify_all();
	lock.unlock();
	workers.clear();
	if (thrown)
		std::rethrow_exception(thrown);
}

} // namespace monitor::statistics
