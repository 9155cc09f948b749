// SPDX-License-Identifier: MIT
// The recorded run lengths (record --states): reads the tokens state_subject and state_run as the runs that an
// Evaluator would find for the same tree.
// RecordedRuns recorded(trace, info, range, selected); recorded.read(sink);
// A run only has its length: its start follows from the runs before, the first of which starts with the trace; so after
// a damaged packet the rest is unknown. One thread. All tokens are untrusted. Invariant: as for Evaluator
// (evaluator.h).
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
		analyze::Thread thread;          // if the tree is of threads
		std::set<std::uint64_t> cgroups; // in which it was
	};
	using Selected = std::function<bool(const Subject &)>; // empty: all subjects

	// `range`: runs are cut at its ends. Reads the subjects. Throws Error: the recording has no run lengths, or
	// lacks their tree. The trace and the recording's info must outlive it.
	RecordedRuns(trace::Trace &trace, const analyze::RecordingInfo &info, trace::TimeRange range,
		     const Selected &selected = {});

	const Tree &tree() const { return tree_; }
	// Passes the runs to the sink.
	void read(RunSink &sink);

	// See Evaluator.
	const std::vector<Who> &subjects() const { return shown_; }
	std::uint64_t window_begin() const { return begin_; }
	std::uint64_t window_end() const { return end_; }

private:
	static constexpr std::uint32_t none = ~0u;

	struct SubjectRuns {
		std::uint32_t number = none; // index in shown_
		std::uint64_t until = 0;     // the end of its runs so far
		std::optional<Run> last;     // not passed on yet
	};

	void read_subjects(const Selected &selected);
	void add(SubjectRuns &runs, State state, std::uint64_t ticks, RunSink &sink);
	void pass_on(SubjectRuns &runs, RunSink &sink) const;

	trace::Trace &trace_;
	const Tree tree_;
	trace::TimeRange whole_;
	std::uint64_t begin_ = 0, end_ = 0;
	std::map<std::uint32_t, Subject> recorded_;         // by number
	std::map<std::uint32_t, SubjectRuns> subject_runs_; // of selected subjects
	std::vector<Who> shown_;
};

// The tree of the recorded run lengths. Throws Error: there is none.
Tree recorded_tree(const analyze::RecordingInfo &info);

} // namespace monitor::states
