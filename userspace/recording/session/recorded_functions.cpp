// SPDX-License-Identifier: MIT
#include "recorded_functions.h"

#include <algorithm>
#include <filesystem>

#include <sys/sysinfo.h>

#include "base/error.h"
#include "base/fd.h"
#include "monitor/function_table.h"
#include "recording/functions/patch_table.h"
#include "recording/functions/patch_trial.h"

namespace monitor::record {

void RecordedFunctions::find(const Options &options, bool may_patch, const User &user)
{
	found_ = functions::find_functions(options.functions, options.command, options.pids, may_patch, user);
	if (found_.functions.size() > EDC_MAX_FUNCTIONS)
		throw Error("--functions: these are {} functions, more than {}; choose fewer", found_.functions.size(),
			    EDC_MAX_FUNCTIONS);
	if (options.calibrates && !std::ranges::all_of(found_.functions, &card::Function::is_probed))
		costs_.patched = functions::time_patched_event(user);
}

std::vector<std::string> RecordedFunctions::environment(const std::string &directory) const
{
	if (std::ranges::all_of(found_.functions, &card::Function::is_probed))
		return {};
	const std::string path = std::filesystem::absolute(directory) / ".monitor/functions";
	replace_file(path, functions::patch_table(found_.functions), 0600);
	return functions::patch_environment(path);
}

void RecordedFunctions::add_costs(card::Calibration &calibration)
{
	if (const auto probed = calibration.costs.find("function"); probed != calibration.costs.end())
		costs_.probed = probed->second;
	if (costs_.patched.rounds > 0)
		calibration.costs["patched"] = costs_.patched;
}

void RecordedFunctions::start_budget(double share, card::BpfCard &card, card::UserCard *users)
{
	card_ = &card;
	users_ = users;
	for (const card::Function &function : found_.functions)
		if (cost(function).rounds == 0)
			throw Error("--budget: what an event of a function costs could not be measured");
	budget_.emplace(share, static_cast<unsigned>(::get_nprocs()));
	too_expensive(); // the first call starts counting
}

std::vector<FunctionLoad> RecordedFunctions::loads() const
{
	const std::vector<std::uint64_t> hits = card_->function_hits(),
					 posted = users_ ? users_->function_events() : hits;
	std::vector<FunctionLoad> loads;
	for (std::size_t i = 0; i < hits.size(); ++i) {
		const card::Function &function = found_.functions[i];
		loads.push_back({function.is_probed() ? hits[i] : posted[i], cost(function).median});
	}
	return loads;
}

void RecordedFunctions::leave_out(std::size_t number)
{
	if (found_.functions[number].is_probed())
		card_->leave_out_function(number);
	else
		users_->leave_out_function(number);
}

} // namespace monitor::record
