// SPDX-License-Identifier: MIT
// Sums run lengths: for each node of a tree the total time, the number and the durations of its subjects' stays.
// Fed by Evaluator (reading/states/evaluator.h), printed by run_tables.h. A node with children is left when a state
// outside of it is entered. Invariant: the ticks of all states add up to those of all runs.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/activities/distribution.h"
#include "reading/states/evaluator.h"

namespace monitor::run_lengths {

class Totals : public states::RunSink {
public:
	// `per_subject`: separate totals per subject.
	Totals(const states::Tree &tree, bool per_subject) : tree_(tree), per_subject_(per_subject) {}

	void run(const states::Run &run) override;
	// After the last run.
	void finish();

	// Number of groups; without `per_subject` one, group 0, for all subjects.
	std::size_t groups() const { return groups_.size(); }
	// In the order of Tree::nodes(), then PAUSE and unknown. In ticks.
	const std::vector<activities::Distribution> &of_group(std::size_t group) const { return groups_[group]; }
	std::size_t pause() const { return tree_.nodes().size(); }
	std::size_t unknown() const { return tree_.nodes().size() + 1; }

private:
	struct Open {
		std::uint32_t node;
		std::uint64_t since;
	};
	// The ancestors of a subject's current state, and the end of its runs so far.
	struct SubjectState {
		std::vector<Open> open;
		std::uint64_t until = 0;
	};

	activities::Distribution &durations_of(std::uint32_t subject, std::size_t row);
	void enter(const states::Run &run);
	void leave(std::uint32_t subject, std::size_t depth, std::uint64_t time);

	const states::Tree &tree_;
	bool per_subject_;
	std::vector<std::vector<activities::Distribution>> groups_;
	std::vector<SubjectState> subjects_; // by subject
};

} // namespace monitor::run_lengths
