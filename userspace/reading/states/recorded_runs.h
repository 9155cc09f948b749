// SPDX-License-Identifier: MIT
// The run lengths that a recording has (record --states): from the tokens state_subject and state_run to the runs that
// an Evaluator would give out for the same tree.
//
//     RecordedRuns recorded(trace, info, range, selected);
//     recorded.read(sink);
//
// A run says how long its subject was in a state. Where it is follows from the runs before, as the first one begins
// with the trace; so after a damaged packet the rest is unknown. One thread. All tokens are untrusted. Invariant: as of
// Evaluator (evaluator.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "evaluator.h"
#include "tree.h"

namespace monitor::states {

class RecordedRuns {
public:
	// A subject as it was at the end of the recording.
	struct Subject {
		std::uint32_t cpu = 0;
		analyze::Thread thread;          // of a tree of a thread
		std::set<std::uint64_t> cgroups; // that it was in
	};
	using Selected = std::function<bool(const Subject &)>; // empty: all are

	// `range`: the runs are cut there. Reads the subjects. Throws Error: the recording has no run lengths, or no
	// tree of them. The trace and the recording's info must outlive it.
	RecordedRuns(trace::Trace &trace, const analyze::RecordingInfo &info, trace::TimeRange range,
		     const Selected &selected = {});

	const Tree &tree() const { return tree_; }
	// Passes on the runs.
	void read(RunSink &sink);

	// As those of Evaluator.
	const std::vector<Who> &subjects() const { return shown_; }
	std::uint64_t window_begin() const { return begin_; }
	std::uint64_t window_end() const { return end_; }

private:
	static constexpr std::uint32_t none = ~0u;

	struct Place {
		std::uint32_t number = none; // in shown_
		std::uint64_t until = 0;     // its runs so far
		std::optional<Run> last;     // not passed on yet
	};

	void read_subjects(const Selected &selected);
	void add(Place &place, State state, std::uint64_t ticks, RunSink &sink);
	void pass_on(Place &place, RunSink &sink) const;

	trace::Trace &trace_;
	const Tree tree_;
	trace::TimeRange whole_;
	std::uint64_t begin_ = 0, end_ = 0;
	std::map<std::uint32_t, Subject> recorded_; // by number
	std::map<std::uint32_t, Place> places_;     // of those selected
	std::vector<Who> shown_;
};

// The tree that a recording has run lengths of. Throws Error: it has none.
Tree recorded_tree(const analyze::RecordingInfo &info);

} // namespace monitor::states
