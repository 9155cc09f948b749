// SPDX-License-Identifier: MIT
// Divides a trace into time partitions that can be read independently, on any number of CPUs.
// The folds of this directory run once per partition; their results are merged in time order (in_order()). The
// boundaries depend only on the trace, so results do not depend on the number of threads. A reader of a partition
// starts with the packets that the boundary cuts: their earlier events only show which thread runs. Only the recorder
// reports threads that the kernel hides (RecorderThreads): a reader of a partition gets those of earlier ones.
// Invariant: every event, and the start of every gap, is in exactly one partition.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "reading/events/merge.h"
#include "reading/events/threads.h"
#include "reading/events/trace.h"

namespace monitor::statistics {

// The approximate size of a partition, in bytes of the stream files.
inline constexpr std::uint64_t default_partition_bytes = 16u << 20;

// Partitions of the range, in time order, without holes. A trace whose packets have no times is one partition.
std::vector<trace::TimeRange> partitions(const trace::Trace &trace, trace::TimeRange range,
					 std::uint64_t partition_bytes = default_partition_bytes);

struct Hidden {
	std::uint64_t time = 0;
	std::uint32_t machine = 0;
	std::int64_t tid = 0;
};

// What a reader of a partition needs to know about threads.
struct ThreadNeeds {
	trace::Threads *threads = nullptr; // initially empty; nullptr: running threads are not needed
	const std::vector<Hidden> *hidden = nullptr;
	bool by_name = false; // reads everything before the partition, for the names of threads
};

// Reads one partition. Calls on_event(const Event &, running thread) for its events, and on_gap(const StreamInfo &,
// const Gap &) for its gaps and for earlier ones that extend into it.
template <class OnEvent, class OnGap>
void read_partition(const trace::Trace &trace, trace::TimeRange partition, const ThreadNeeds &needs,
		    trace::Problems &problems, OnEvent &&on_event, OnGap &&on_gap)
{
	using trace::Cursor;
	trace::Threads *const threads = needs.threads;
	const std::uint64_t known_from = needs.by_name ? 0 : partition.from;
	if (threads)
		for (const Hidden &each : *needs.hidden)
			if (each.time < known_from)
				threads->hide(each.tid, each.machine);
	trace::MergedCursors cursors(trace, problems, [&](Cursor &cursor) {
		const trace::Stream &stream = cursor.stream();
		const bool has_lead = threads && !stream.is_foreign() && !stream.info().is_recorder();
		cursor.start(has_lead ? lead_time(trace, stream, known_from) : known_from);
	});
	bool is_before = threads != nullptr && !needs.by_name;
	const auto visit = [&](const trace::Event &event) {
		if (is_before && event.time >= partition.from) {
			is_before = false;
			threads->forget_names(); // an earlier partition may have newer names
		}
		const std::int64_t running = threads ? threads->before(event) : trace::Threads::unknown;
		if (event.time >= partition.from)
			on_event(event, running);
		if (threads)
			threads->after(event);
	};
	cursors.walk(
	    partition.to, [&](Cursor &cursor, std::uint64_t bound) { return cursor.visit_before(bound, visit); },
	    [&](const Cursor &cursor) {
		    if (threads)
			    threads->gap(cursor.stream().info());
		    if (cursor.gap().from_time >= partition.from || cursor.gap().to_time > partition.from)
			    on_gap(cursor.stream().info(), cursor.gap());
		    return true;
	    });
	cursors.give_back();
}

// Runs work(partition) on `threads` threads, and take(result) in the calling thread, in the order of the partitions. At
// most two results per thread wait for take(). An exception from work is rethrown here.
template <class Work, class Take>
void in_order(const std::vector<trace::TimeRange> &partitions, unsigned threads, Work &&work, Take &&take)
{
	using Result = decltype(work(partitions.front()));
	threads = static_cast<unsigned>(std::min<std::size_t>(threads, partitions.size()));
	if (threads <= 1) {
		for (const trace::TimeRange &partition : partitions)
			take(work(partition));
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
			changed.wait(
			    lock, [&] { return failure || next >= partitions.size() || next < taken + 2 * threads; });
			if (failure || next >= partitions.size())
				return;
			const std::size_t mine = next++;
			lock.unlock();
			try {
				Result result = work(partitions[mine]);
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
	} catch (const std::exception &) { // fewer threads are sufficient
		if (workers.empty())
			throw;
	}
	std::unique_lock lock(mutex);
	while (taken < partitions.size()) {
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
