// SPDX-License-Identifier: MIT
#include "replay.h"

#include "base/ranges.h"
#include "replayer.h"

namespace monitor::simulation {

Replayed replay(const model::Model &model, const model::SampleSet *samples, const Change &change,
		const ReplaySettings &settings)
{
	return Replayer(model, samples, change, settings).run();
}

std::vector<Replayed> replay_all(const model::Model &model, const Change &change, const ReplaySettings &settings)
{
	if (model.sets.empty())
		return {replay(model, nullptr, change, settings)};
	return list_of<Replayed>(model.sets,
				 [&](const model::SampleSet &set) { return replay(model, &set, change, settings); });
}

std::vector<double> elapsed_of(const std::vector<Replayed> &replays)
{
	return list_of<double>(replays, [](const Replayed &replayed) { return static_cast<double>(replayed.elapsed); });
}

std::uint32_t threads_of(const model::Role &role, const Change &change)
{
	const auto found = change.threads.find(role.name);
	return found != change.threads.end() ? found->second : role.threads;
}

double work_factor(const model::Model &model, const Change &change, const std::string &activity)
{
	double before = 0, after = 0;
	bool is_shared = false;
	for (const model::Role &role : model.roles) {
		bool has_barrier = false, has_activity = false;
		model::for_each_operation(role.body, [&](const model::Operation &operation) {
			has_barrier |= operation.kind == model::Kind::barrier;
			has_activity |= operation.kind == model::Kind::cpu && operation.name == activity;
		});
		if (!has_barrier || !has_activity)
			continue;
		is_shared = true;
		before += role.threads;
		after += threads_of(role, change);
	}
	return is_shared && after > 0 ? before / after : 1;
}

double time_factor(const model::Model &model, const Change &change, const std::string &activity)
{
	const auto found = change.faster.find(activity);
	return work_factor(model, change, activity) / (found != change.faster.end() ? found->second : 1);
}

} // namespace monitor::simulation
