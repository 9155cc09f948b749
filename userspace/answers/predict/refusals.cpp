// SPDX-License-Identifier: MIT
#include "refusals.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/escape.h"
#include "base/sample_mean.h"
#include "reading/model/steps.h"

namespace monitor::predict {
namespace {

using simulation::Change;
using simulation::Wakes;

constexpr double max_wakes_range = 0.25;     // of elapsed times, by where threads wake up, as a share
constexpr double min_slowdown = 1.1;         // ratio of an activity's means: after another thread, after the same one
constexpr std::size_t min_samples_each = 20; // samples
constexpr double min_deviations = 3;         // standard errors by which these differ

double mean_seconds(const model::Model &model, Wakes wakes)
{
	simulation::ReplaySettings settings;
	settings.policy = simulation::policy_of(model);
	settings.wakes = wakes;
	return sample_mean(simulation::elapsed_of(simulation::replay_all(model, {}, settings))) * 1e-9;
}

void refuse_wakes(const model::Model &model, double as_recorded)
{
	const double local = mean_seconds(model, Wakes::all_local), remote = mean_seconds(model, Wakes::all_remote);
	const auto [low, high] = std::minmax(local, remote);
	if (high - low > max_wakes_range * as_recorded)
		throw model::Refused(
		    fmt::format("Where threads wake up decides this program's time ({:.2g} to {:.2g} s): "
				"record the changed program instead.",
				low, high));
}

double error_of_mean(const std::vector<double> &values)
{
	return sample_deviation(values) / std::sqrt(static_cast<double>(values.size()));
}

// How many times as long the activity takes if another thread had the lock before; 1: no significant difference.
double slowdown_of(const simulation::LockedActivity &activity)
{
	if (std::min(activity.after_itself.size(), activity.after_others.size()) < min_samples_each)
		return 1;
	const double itself = sample_mean(activity.after_itself), others = sample_mean(activity.after_others);
	const double error = std::hypot(error_of_mean(activity.after_itself), error_of_mean(activity.after_others));
	return others - itself > min_deviations * error && others > min_slowdown * itself ? others / itself : 1;
}

bool has_activity(const model::Role &role, const std::string &name)
{
	bool found = false;
	model::for_each_operation(role.body, [&](const model::Operation &operation) {
		found |= operation.kind == model::Kind::cpu && operation.name == name;
	});
	return found;
}

// Whether another number of threads does the activity.
bool changes_threads_of(const model::Model &model, const Change &change, const std::string &activity)
{
	return std::ranges::any_of(model.roles, [&](const model::Role &role) {
		const auto found = change.threads.find(role.name);
		return found != change.threads.end() && found->second != role.threads && has_activity(role, activity);
	});
}

// Samples of all recordings, by activity.
std::map<std::string, simulation::LockedActivity> locked_activities(const std::vector<simulation::Replayed> &replays)
{
	std::map<std::string, simulation::LockedActivity> all;
	for (const simulation::Replayed &replay : replays)
		for (const simulation::LockedActivity &locked : replay.locked) {
			simulation::LockedActivity &sum = all[locked.name];
			const auto append = [](std::vector<double> &to, const std::vector<double> &from) {
				to.insert(to.end(), from.begin(), from.end());
			};
			append(sum.after_itself, locked.after_itself);
			append(sum.after_others, locked.after_others);
		}
	return all;
}

[[noreturn]] void refuse(const std::string &activity, double slowdown, const char *of_what)
{
	throw model::Refused(
	    fmt::format("`{}` takes {:.0f} % longer after another thread's: its time for another number of {} is "
			"not in this recording; record with that number, too.",
			printable(activity), 100 * (slowdown - 1), of_what));
}

void refuse_moving_data(const model::Model &model, const std::vector<Change> &changes,
			const std::vector<simulation::Replayed> &replays)
{
	for (const auto &[name, locked] : locked_activities(replays)) {
		const double slowdown = slowdown_of(locked);
		for (const Change &change : changes) {
			if (slowdown > 1 && changes_threads_of(model, change, name))
				refuse(name, slowdown, "threads");
			if (slowdown > 1 && change.cpus == 1 && model.cpus > 1)
				refuse(name, slowdown, "CPUs");
		}
	}
}

} // namespace

void refuse_unknown(const model::Model &model, const std::vector<Change> &changes,
		    const std::vector<simulation::Replayed> &as_recorded)
{
	refuse_wakes(model, sample_mean(simulation::elapsed_of(as_recorded)) * 1e-9);
	refuse_moving_data(model, changes, as_recorded);
}

} // namespace monitor::predict
