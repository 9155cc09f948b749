// SPDX-License-Identifier: MIT
// Sums run lengths: for each node of a tree how long and how often its subjects were in it, and how long at a time.
//
// Fed by Evaluator (reading/states/evaluator.h), printed by run_tables.h. A node with children is left when a state
// outside of it is entered. Invariant: the ticks of all states together are those of all runs.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/activities/distribution.h"
#include "reading/states/evaluator.h"

namespace monitor::run_lengths {

class Totals : public states::RunSink {
public:
	// `each`: apart for each subject.
	Totals(const states::Tree &tree, bool each) : tree_(tree), each_(each) {}

	void run(const states::Run &run) override;
	// After the last run.
	void finish();

	// Of all subjects together it is one, group 0.
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
	// The nodes with children that a subject is in, and until when its runs have been added.
	struct Place {
		std::vector<Open> open;
		std::uint64_t until = 0;
	};

	activities::Distribution &of(std::uint32_t subject, std::size_t row);
	void enter(const states::Run &run);
	void leave(std::uint32_t subject, std::size_t depth, std::uint64_t time);

	const states::Tree &tree_;
	bool each_;
	std::vector<std::vector<activities::Distribution>> groups_;
	std::vector<Place> places_; // by subject
};

} // namespace monitor::run_lengths
