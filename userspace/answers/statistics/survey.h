// SPDX-License-Identifier: MIT
// One pass over a trace with one fold per partition, on several threads.
// const auto answer = survey(trace, question, [&] { return Frequencies(...); });
// Folds are those of folds.h and Frequencies. A fold has event(event, running), gap() and merge(later). It gets the
// selected events; one with takes_all_events selects by itself. Names of threads depend on all earlier events, so if
// they are needed the trace is one partition; so is another tracer's trace in which only switches identify the running
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "partitions.h"
#include "reading/activities/keys.h"
#include "reading/events/event_selection.h"
#include "reading/events/field_ref.h"
#include "reading/events/gap.h"
#include "reading/filter/filter.h"

namespace monitor::statistics {

struct Question {
	trace::TimeRange range;
	// Activities that start from here on may end in the range: the fold gets these events, too, and then
	// forget_finished().
	std::uint64_t lead_from = ~0ull;
	std::optional<filter::Filter> filter;
	trace::EventSelection selection;
	std::vector<bool> classes;  // by class index; empty: all
	bool needs_threads = false; // for the fold
	bool needs_names = false;   // names of threads, while reading
	unsigned threads = 1;
	std::uint64_t partition_bytes = default_partition_bytes;
};

// Finds the tokens that give a thread's process.
class ThreadFields {
public:
	explicit ThreadFields(const trace::Description &description);
	void update(const trace::Event &event, activities::ThreadTable &threads) const
	{
		const Refs &refs = classes_[event.cls->index];
		if (refs.thread)
			threads.belongs(event.stream->machine, refs.thread.get<std::int32_t>(event),
					refs.process.get<std::int32_t>(event));
	}

private:
	struct Refs {
		trace::FieldRef thread, process;
	};
	std::vector<Refs> classes_; // by class index
};

// What the recorder reported about threads, anywhere in the trace.
struct RecorderThreads {
	activities::ThreadTable threads;
	std::vector<Hidden> hidden;
};
RecorderThreads threads_of_recorder(const trace::Trace &trace, const ThreadFields &thread_fields);

template <class Fold> struct Surveyed {
	Fold fold;
	activities::ThreadTable threads;
	trace::Losses losses;
	trace::Problems problems;
};

inline bool needs_current_thread(const Question &question)
{
	return question.needs_threads || question.needs_names || question.selection.needs_threads() ||
	       (question.filter && question.filter->needs_threads());
}

inline bool needs_thread_names(const Question &question)
{
	return question.needs_names || (question.filter && question.filter->needs_names());
}

// Partitions of `range`; a single one if several would give a different result.
std::vector<trace::TimeRange> partitions_for(const trace::Trace &trace, const Question &question,
					     const trace::TimeRange &range);

template <class Fold>
void survey_partition(const trace::Trace &trace, const Question &question, const ThreadFields &thread_fields,
		      const RecorderThreads &reported, trace::TimeRange partition, Surveyed<Fold> &surveyed)
{
	const filter::Filter *filter = question.filter ? &*question.filter : nullptr;
	std::optional<trace::Threads> threads;
	if (needs_current_thread(question))
		threads.emplace(trace);
	const auto gap = [&](const trace::StreamInfo &, const trace::Gap &gap) {
		if (gap.from_time >= partition.from)
			surveyed.losses.add(gap.lost);
		surveyed.fold.gap(gap.to_time);
	};
	if (!threads && !filter && question.selection.is_all() && question.classes.empty()) {
		read_partition(
		    trace, partition, {}, surveyed.problems,
		    [&](const trace::Event &event, std::int64_t running) {
			    surveyed.fold.event(event, {running, nullptr});
		    },
		    gap);
		return;
	}
	read_partition(
	    trace, partition, {threads ? &*threads : nullptr, &reported.hidden, needs_thread_names(question)},
	    surveyed.problems,
	    [&](const trace::Event &event, std::int64_t tid) {
		    const filter::Running running{tid, threads ? &*threads : nullptr};
		    if (threads)
			    thread_fields.update(event, surveyed.threads);
		    constexpr bool takes_all = requires
		    {
			    Fold::takes_all_events;
		    };
		    if (takes_all ||
			((question.classes.empty() || question.classes[event.cls->index]) &&
			 question.selection.includes(event, tid) && (!filter || filter->matches(event, running))))
			    surveyed.fold.event(event, running);
	    },
	    gap);
	if (threads)
		surveyed.threads.learn(*threads);
}

template <class MakeFold> auto survey(trace::Trace &trace, const Question &question, MakeFold &&make_fold)
{
	using Fold = decltype(make_fold());
	const ThreadFields thread_fields(trace.description());
	std::vector<trace::TimeRange> parts;
	if (question.lead_from < question.range.from)
		parts = partitions_for(trace, question, {question.lead_from, question.range.from - 1});
	const std::size_t leading = parts.size();
	std::ranges::copy(partitions_for(trace, question, question.range), std::back_inserter(parts));
	const RecorderThreads reported =
	    needs_current_thread(question) ? threads_of_recorder(trace, thread_fields) : RecorderThreads();
	Surveyed<Fold> all{make_fold(), reported.threads, {}, {}};
	std::size_t taken = 0;
	in_order(
	    parts, question.threads,
	    [&](trace::TimeRange partition) {
		    Surveyed<Fold> surveyed{make_fold(), {}, {}, {}};
		    survey_partition(trace, question, thread_fields, reported, partition, surveyed);
		    return surveyed;
	    },
	    [&](Surveyed<Fold> &&surveyed) {
		    if (taken++ == 0)
			    all.fold = std::move(surveyed.fold);
		    else
			    all.fold.merge(surveyed.fold);
		    all.threads.merge(surveyed.threads);
		    all.losses.merge(surveyed.losses);
		    all.problems.merge(surveyed.problems);
		    if constexpr (requires { all.fold.forget_finished(); })
			    if (taken == leading) {
				    all.fold.forget_finished();
				    all.losses = {};
			    }
	    });
	trace.problems().merge(all.problems);
	return all;
}

} // namespace monitor::statistics
