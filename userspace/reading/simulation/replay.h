// SPDX-License-Identifier: MIT
// Replays a model on simulated CPUs, to find how long the program would take.
//
// The model defines what threads wait for; how long they wait results from the replay. If a CPU is idle, a wake-up has
// one of the recorded latencies and costs the waker Model::wake_cost_ns; otherwise both are 0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine.h"
#include "reading/model/model.h"

namespace monitor::simulation {

// What differs from the model.
struct Change {
	std::map<std::string, double> faster;         // by activity: its times are divided by this
	std::map<std::string, std::uint32_t> threads; // by role
	std::uint32_t cpus = 0;                       // 0: as in the model

	bool is_empty() const { return faster.empty() && threads.empty() && cpus == 0; }
	bool operator==(const Change &) const = default;
};

// The costs of wake-ups: as if threads woke on the waker's CPU (none), or all on another one. Bounds of what a
// scheduler can choose.
enum class Wakes { as_recorded, all_local, all_remote };

struct ReplaySettings {
	Policy policy = Policy::fair;
	Wakes wakes = Wakes::as_recorded;
	bool resamples = false; // each iteration has the durations of a randomly drawn one
	std::uint64_t seed = 1;
	std::uint64_t max_operations = 100'000'000;
	std::size_t max_busy_times = 50'000'000; // bounds memory: each thread has a time for each activity
};

// An activity, a lock, a role, "CPUs", "sleep of ROLE" or "fixed", and its share of the elapsed time.
struct Load {
	std::string name;
	double share = 0;
};

// Durations of an activity under a lock: where the same thread had the lock before, and where another one had.
struct LockedActivity {
	std::string name;
	std::vector<double> after_itself, after_others;
};

struct Replayed {
	Nanoseconds elapsed = 0; // including Model::fixed_ns
	Load limit;              // what is busy for most of it
	std::vector<LockedActivity> locked;
	std::uint64_t events = 0, operations = 0;
};

inline Policy policy_of(const model::Model &model)
{
	return model.is_realtime ? Policy::round_robin : Policy::fair;
}

// `samples` may be null if the model needs none. Unknown names in `change` are ignored. Throws Error if threads wait
// for ever, or if times, threads, operations or scheduling events are too many to replay.
Replayed replay(const model::Model &model, const model::SampleSet *samples, const Change &change,
		const ReplaySettings &settings);

// With each sample set; once if there is none.
std::vector<Replayed> replay_all(const model::Model &model, const Change &change, const ReplaySettings &settings);
// In ns.
std::vector<double> elapsed_of(const std::vector<Replayed> &replays);

std::uint32_t threads_of(const model::Role &role, const Change &change);

// By what the durations of an activity are multiplied: work_factor() for changed numbers of threads, as those that meet
// at a barrier share the work of an iteration; time_factor() for all changes.
double work_factor(const model::Model &model, const Change &change, const std::string &activity);
double time_factor(const model::Model &model, const Change &change, const std::string &activity);

} // namespace monitor::simulation
