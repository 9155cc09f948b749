// SPDX-License-Identifier: MIT
// Keeps the run lengths of each subject in order, for listing or searching (reading/states/matcher.h). Fed by Evaluator
// (reading/states/evaluator.h). 24 bytes per run.
#pragma once

#include <vector>

#include "reading/states/evaluator.h"

namespace monitor::run_lengths {

class RunList : public states::RunSink {
public:
	void run(const states::Run &run) override
	{
		if (run.subject >= runs_.size())
			runs_.resize(run.subject + std::size_t{1});
		runs_[run.subject].push_back(run);
	}
	// By subject.
	const std::vector<std::vector<states::Run>> &runs() const { return runs_; }

private:
	std::vector<std::vector<states::Run>> runs_;
};

} // namespace monitor::run_lengths
