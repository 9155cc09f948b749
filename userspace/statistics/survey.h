// SPDX-License-Identifier: MIT
// One pass over a trace with one kind of fold per slice, on several threads.
//
//     const auto answer = survey(trace, question, [&] { return Frequencies(...); });
//
// Called by `monitor stat`; the folds are those of folds.h and Frequencies. A fold has event(event, running), gap()
// and merge(later). Who asks for names of threads needs all that was told before, so the trace is one slice; so is
// one of another tracer that tells its threads by switches alone.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "filter/filter.h"
#include "keys.h"
#include "slices.h"
#include "trace/field_ref.h"

namespace monitor::statistics {

struct Question {
	trace::TimeRange range;
	std::optional<filter::Filter> filter;
	bool needs_threads = false; // of the fold
	bool needs_names = false;   // of threads, while it is read
	unsigned threads = 1;
	std::uint64_t slice_bytes = usual_slice_bytes;
};

// Which tokens tell the process of a thread.
class Families {
public:
	explicit Families(const trace::Description &description);
	void tell(const trace::Event &event, People &people) const
	{
		const Refs &refs = classes_[event.cls->index];
		if (refs.thread)
			people.belongs(event.stream->machine, refs.thread.get<std::int32_t>(event),
				       refs.process.get<std::int32_t>(event));
	}

private:
	struct Refs {
		trace::FieldRef thread, process;
	};
	std::vector<Refs> classes_; // by class index
};

// What the recorder told of threads, wherever it stands in the trace.
struct Told {
	People people;
	std::vector<Hidden> hidden;
};
Told told_by_recorder(const trace::Trace &trace, const Families &families);

template <class Fold> struct Surveyed {
	Fold fold;
	People people;
	trace::Losses losses;
	trace::Problems problems;
};

inline bool asks_who_runs(const Question &question)
{
	return question.needs_threads || question.needs_names || (question.filter && question.filter->needs_threads());
}

inline bool asks_for_names(const Question &question)
{
	return question.needs_names || (question.filter && question.filter->needs_names());
}

// Whether slices would not tell the same as one pass.
bool is_one_slice(const trace::Trace &trace, const Question &question);

template <class Fold>
void survey_slice(const trace::Trace &trace, const Question &question, const Families &families, const Told &told,
		  trace::TimeRange slice, Surveyed<Fold> &surveyed)
{
	const filter::Filter *filter = question.filter ? &*question.filter : nullptr;
	std::optional<trace::Threads> threads;
	if (asks_who_runs(question))
		threads.emplace(trace);
	const auto gap = [&](const trace::StreamInfo &, std::uint64_t discarded) {
		surveyed.losses.add(discarded);
		surveyed.fold.gap();
	};
	if (!threads && !filter) {
		read_slice(
		    trace, slice, {}, surveyed.problems,
		    [&](const trace::Event &event, std::int64_t running) {
			    surveyed.fold.event(event, {running, nullptr});
		    },
		    gap);
		return;
	}
	read_slice(
	    trace, slice, {threads ? &*threads : nullptr, &told.hidden, asks_for_names(question)}, surveyed.problems,
	    [&](const trace::Event &event, std::int64_t tid) {
		    const filter::Running running{tid, threads ? &*threads : nullptr};
		    if (threads)
			    families.tell(event, surveyed.people);
		    if (!filter || filter->matches(event, running))
			    surveyed.fold.event(event, running);
	    },
	    gap);
	if (threads)
		surveyed.people.learn(*threads);
}

template <class MakeFold> auto survey(trace::Trace &trace, const Question &question, MakeFold &&make_fold)
{
	using Fold = decltype(make_fold());
	const Families families(trace.description());
	const auto parts = is_one_slice(trace, question) ? std::vector{question.range}
							 : slices(trace, question.range, question.slice_bytes);
	const Told told = asks_who_runs(question) ? told_by_recorder(trace, families) : Told();
	Surveyed<Fold> all{make_fold(), told.people, {}, {}};
	bool is_first = true;
	in_order(
	    parts, question.threads,
	    [&](trace::TimeRange slice) {
		    Surveyed<Fold> surveyed{make_fold(), {}, {}, {}};
		    survey_slice(trace, question, families, told, slice, surveyed);
		    return surveyed;
	    },
	    [&](Surveyed<Fold> &&surveyed) {
		    if (std::exchange(is_first, false))
			    all.fold = std::move(surveyed.fold);
		    else
			    all.fold.merge(surveyed.fold);
		    all.people.merge(surveyed.people);
		    all.losses.merge(surveyed.losses);
		    all.problems.take(surveyed.problems);
	    });
	trace.problems().take(all.problems);
	return all;
}

} // namespace monitor::statistics
