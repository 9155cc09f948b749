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
constexpr double min_fixed_ratio = 2;  // standard deviations of sleeps that end at fixed times, and of their rounds
constexpr double min_deviation = 20e3; // ns; a smaller one may be of the probes and the timer

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

// Of one sleep of a role: its lengths, and the times from its end until it ends in the thread's next iteration; both
// without the thread's mean.
struct SleepTimes {
	std::vector<double> lengths, rounds;
};

void append_without_mean(std::vector<double> &to, const std::vector<double> &values)
{
	const double mean = sample_mean(values);
	for (const double value : values)
		to.push_back(value - mean);
}

// `times`: the columns of times, in the order of the body. `sleep`: one of these.
void add_times(SleepTimes &to, const model::RoleSamples &samples, const std::vector<std::size_t> &times,
	       std::size_t sleep)
{
	struct OfThread {
		SleepTimes found;
		double since_sleep = 0;
	};
	std::map<std::uint32_t, OfThread> threads;
	for (std::size_t row = 0; row < samples.threads.size(); ++row) {
		double until_end = 0, after = 0;
		for (const std::size_t column : times)
			(column <= sleep ? until_end : after) += static_cast<double>(samples.columns[column][row]);
		const auto [entry, is_first] = threads.try_emplace(samples.threads[row]);
		OfThread &thread = entry->second;
		if (!is_first) {
			thread.found.lengths.push_back(static_cast<double>(samples.columns[sleep][row]));
			thread.found.rounds.push_back(thread.since_sleep + until_end);
		}
		thread.since_sleep = after;
	}
	for (const auto &[number, thread] : threads) {
		append_without_mean(to.lengths, thread.found.lengths);
		append_without_mean(to.rounds, thread.found.rounds);
	}
}

// Whether a sleep of the role is shorter by what its thread computes longer. Sleeps of a given length are not: then
// the rounds differ by at least as much as the sleeps.
bool sleeps_to_fixed_times(const model::Model &model, std::size_t role)
{
	std::vector<std::size_t> times, sleeps;
	model::for_each_operation(model.roles[role].body, [&](const model::Operation &operation) {
		if (!operation.has_samples() || operation.kind == model::Kind::branch)
			return;
		times.push_back(operation.column);
		if (operation.kind == model::Kind::sleep)
			sleeps.push_back(operation.column);
	});
	return std::ranges::any_of(sleeps, [&](std::size_t sleep) {
		SleepTimes found;
		for (const model::SampleSet &set : model.sets)
			add_times(found, set.roles[role], times, sleep);
		const double of_rounds = std::max(sample_deviation(found.rounds), min_deviation);
		return found.lengths.size() >= min_samples_each &&
		       sample_deviation(found.lengths) > min_fixed_ratio * of_rounds;
	});
}

void refuse_fixed_times(const model::Model &model, const std::vector<Change> &changes)
{
	for (std::size_t i = 0; i < model.roles.size(); ++i) {
		const model::Role &role = model.roles[i];
		const bool is_changed = std::ranges::any_of(changes, [&](const Change &change) {
			return std::ranges::any_of(
			    change.faster, [&](const auto &faster) { return has_activity(role, faster.first); });
		});
		if (is_changed && sleeps_to_fixed_times(model, i))
			throw model::Refused(
			    fmt::format("Sleeps of {} end at fixed times: they are shorter where it computes longer, "
					"which is not in a model of sleeps of fixed length; record the changed program "
					"instead.",
					printable(role.name)));
	}
}

} // namespace

void refuse_unknown(const model::Model &model, const std::vector<Change> &changes,
		    const std::vector<simulation::Replayed> &as_recorded)
{
	refuse_wakes(model, sample_mean(simulation::elapsed_of(as_recorded)) * 1e-9);
	refuse_moving_data(model, changes, as_recorded);
	refuse_fixed_times(model, changes);
}

} // namespace monitor::predict
