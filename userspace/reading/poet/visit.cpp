// SPDX-License-Identifier: MIT
// The visits: the internal loops, which collect their events in batches.
#include "poet/visit.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "batch.h"
#include "filter_body.h"
#include "reading/events/merge.h"
#include "reading/events/threads.h"

namespace poet::detail {
namespace {

using namespace monitor::trace;
using InnerEvent = monitor::trace::Event;

const Filter::Body *body_of(const Selection &selection, const Core &core)
{
	if (!selection.filter)
		return nullptr;
	selection.filter->body().require_trace_of(core);
	return &selection.filter->body();
}

// Reports the problems found however the visit ends.
class FoundProblems {
public:
	explicit FoundProblems(const Core &core) : core_(core) {}
	~FoundProblems() { core_.add_problems(problems); }
	FoundProblems(const FoundProblems &) = delete;
	FoundProblems &operator=(const FoundProblems &) = delete;

	Problems problems;

private:
	const Core &core_;
};

// Merges the events that selects() chooses; note_gap() gets all gaps, also those before `from`. merge() does not say
// why it ended, so the callbacks record it.
template <class Selects, class OnGap>
void merge_batches(const Core &core, TimeRange range, std::uint64_t from, const Visitor &visitor, Selects &&selects,
		   OnGap &&note_gap)
{
	FoundProblems found(core);
	Batch batch(core, visitor, 0);
	bool continues = true;
	const auto on_event = [&](const InnerEvent &event) -> bool {
		return !selects(event) || (continues = batch.add(event));
	};
	const auto on_gap = [&](const StreamInfo &stream, std::uint64_t begin, std::uint64_t end,
				std::uint64_t lost) -> bool {
		note_gap(stream);
		if (end < from)
			return true;
		return continues = batch.gap(gap_of({begin, end, lost}, core.stream_list()[stream.index]));
	};
	merge(core.trace(), found.problems, range, on_event, on_gap);
	if (continues)
		batch.flush();
}

// The running thread is known only if all events from the start are read.
void merge_with_threads(const Core &core, const Selection &selection, const Filter::Body &filter,
			const Visitor &visitor)
{
	Threads threads(core.trace());
	const auto selects = [&](const InnerEvent &event) {
		const std::int64_t running = threads.before(event);
		const bool is_match =
		    event.time >= selection.from && filter.filter().matches(event, {running, &threads});
		threads.after(event);
		return is_match;
	};
	merge_batches(core, {0, selection.to}, selection.from, visitor, selects,
		      [&](const StreamInfo &stream) { threads.gap(stream); });
}

// All events of one stream. False: the visitor ended the visit.
class StreamVisit {
public:
	StreamVisit(const Core &core, const Selection &selection, const Filter::Body *filter,
		    const std::atomic<bool> &is_over)
	    : core_(core), selection_(selection), filter_(filter), is_over_(is_over)
	{
	}

	bool run(const monitor::trace::Stream &stream, Batch &batch) const
	{
		FoundProblems found(core_);
		const monitor::trace::Trace &trace = core_.trace();
		monitor::trace::Cursor cursor(stream, trace.description(), found.problems, trace.first_time());
		const std::uint64_t after = selection_.to + (selection_.to + 1 != 0 ? 1 : 0);
		cursor.start(selection_.from);
		while (cursor.item() != monitor::trace::Cursor::Item::end && cursor.time() <= selection_.to) {
			if (cursor.item() == monitor::trace::Cursor::Item::gap) {
				if (!batch.gap(gap_of(cursor.gap(), core_.stream_list()[stream.info().index])))
					return false;
				cursor.advance();
			} else if (!cursor.visit_before(after,
							[&](const InnerEvent &event) { return add(event, batch); })) {
				return false;
			}
		}
		return batch.flush();
	}

private:
	bool add(const InnerEvent &event, Batch &batch) const
	{
		if (filter_ && !filter_->filter().matches(event))
			return true;
		return batch.add(event) && !is_over_.load(std::memory_order_relaxed);
	}

	const Core &core_;
	const Selection &selection_;
	const Filter::Body *filter_;
	const std::atomic<bool> &is_over_;
};

// The streams by descending size: the last ones to be processed are short.
std::vector<const monitor::trace::Stream *> by_size(const Core &core)
{
	std::vector<const monitor::trace::Stream *> streams;
	for (const auto &stream : core.trace().streams())
		if (!stream->is_foreign())
			streams.push_back(stream.get());
	std::ranges::stable_sort(streams, [&](const auto *a, const auto *b) {
		return core.stream_list()[a->info().index].size_bytes > core.stream_list()[b->info().index].size_bytes;
	});
	return streams;
}

// The workers of one visit. The first exception is rethrown when all are done.
class Workers {
public:
	Workers(const Core &core, const Selection &selection, const Filter::Body *filter, const Visitor &visitor)
	    : core_(core), visitor_(visitor), visit_(core, selection, filter, is_over_), streams_(by_size(core))
	{
	}

	void run(unsigned threads)
	{
		if (threads == 0)
			threads = std::max(1u, std::thread::hardware_concurrency());
		const auto useful = static_cast<unsigned>(std::clamp<std::size_t>(streams_.size(), 1, threads));
		{
			std::vector<std::jthread> others; // joined at the end of the block, even by an exception
			for (unsigned worker = 1; worker < useful; ++worker)
				others.emplace_back([this, worker] { work(worker); });
			work(0);
		}
		if (thrown_)
			std::rethrow_exception(thrown_);
	}

private:
	void work(unsigned worker) noexcept
	{
		try {
			Batch batch(core_, visitor_, worker);
			for (std::size_t next; !is_over_ && (next = next_stream_++) < streams_.size();)
				if (!visit_.run(*streams_[next], batch))
					is_over_ = true;
		} catch (...) {
			if (!is_thrown_.exchange(true))
				thrown_ = std::current_exception();
			is_over_ = true;
		}
	}

	const Core &core_;
	Visitor visitor_;
	std::atomic<bool> is_over_ = false, is_thrown_ = false;
	std::atomic<std::size_t> next_stream_ = 0;
	StreamVisit visit_;
	std::vector<const monitor::trace::Stream *> streams_;
	std::exception_ptr thrown_;
};

} // namespace

void visit_merged(const poet::Trace &trace, const Selection &selection, const Visitor &visitor)
{
	const Core &core = *trace.core();
	const auto no_notes = [](const StreamInfo &) {};
	const Filter::Body *filter = body_of(selection, core);
	const TimeRange range = {selection.from, selection.to};
	if (!filter)
		merge_batches(
		    core, range, selection.from, visitor, [](const InnerEvent &) { return true; }, no_notes);
	else if (filter->asks_who_runs())
		merge_with_threads(core, selection, *filter, visitor);
	else
		merge_batches(
		    core, range, selection.from, visitor,
		    [&](const InnerEvent &event) { return filter->filter().matches(event); }, no_notes);
}

void visit_parallel(const poet::Trace &trace, const Selection &selection, unsigned threads, const Visitor &visitor)
{
	const Core &core = *trace.core();
	const Filter::Body *filter = body_of(selection, core);
	if (filter && filter->asks_who_runs())
		throw Error(
		    "a visit by streams does not know who runs (`tid`, `thread`): use visit() with this filter");
	Workers(core, selection, filter, visitor).run(threads);
}

} // namespace poet::detail
