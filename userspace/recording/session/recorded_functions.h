// SPDX-License-Identifier: MIT
// The functions of record --functions: search, cost, and --budget. Main thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "function_budget.h"
#include "recording.h"
#include "recording/calibration/calibration.h"
#include "recording/card/bpf_card.h"
#include "recording/functions/function_search.h"
#include "recording/user_card/user_card.h"

namespace monitor::record {

class RecordedFunctions {
public:
	// On behalf of this user. Before other threads exist. `may_patch`: the command's processes may patch functions
	// themselves. Throws Error.
	void find(const Options &options, bool may_patch, const User &user);

	const functions::FoundFunctions &found() const { return found_; }

	// Environment of the command for patching (NAME=VALUE); also writes the function table into the trace
	// directory. Empty: nothing to patch.
	std::vector<std::string> environment(const std::string &directory) const;

	// Takes the measured cost of uprobe events, and adds that of patched functions.
	void add_costs(card::Calibration &calibration);
	// Summary before the start: functions and cost.
	std::string summary() const { return functions::summary(found_.functions, costs_); }

	// Throws Error if the cost of an event is unknown. `users`: null if no function is patched.
	void start_budget(double share, card::BpfCard &card, card::UserCard *users);
	bool has_budget() const { return budget_.has_value(); }
	// Functions to drop now.
	std::vector<LeftOutFunction> too_expensive()
	{
		return budget_->update(std::chrono::steady_clock::now(), loads(), used_cpu_ns());
	}
	const std::string &name(std::size_t number) const { return found_.functions[number].name; }
	void leave_out(std::size_t number);

private:
	const card::CalibratedCost &cost(const card::Function &function) const
	{
		return function.is_probed() ? costs_.probed : costs_.patched;
	}
	std::vector<FunctionLoad> loads() const;

	functions::FoundFunctions found_;
	functions::EventCosts costs_;
	card::BpfCard *card_ = nullptr; // of the budget
	card::UserCard *users_ = nullptr;
	std::optional<FunctionBudget> budget_;
};

} // namespace monitor::record
