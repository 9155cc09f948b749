// SPDX-License-Identifier: MIT
// Replays a model on simulated CPUs: how long would it take?
//
// Each thread executes the operations of its role's iterations; what it waits for is what the model says, and how long
// that takes follows. A wake-up while a CPU is idle takes as long as one of those that were recorded, and costs the
// waker what such a wake-up costs; while none is idle it takes none of both.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine.h"
#include "reading/model/model.h"

namespace monitor::simulation {

// What is other than in the model.
struct Change {
	std::map<std::string, double> faster;         // activities: so many times as fast
	std::map<std::string, std::uint32_t> threads; // of roles
	std::uint32_t cpus = 0;                       // 0: as in the model

	bool is_empty() const { return faster.empty() && threads.empty() && cpus == 0; }
	bool operator==(const Change &) const = default;
};

// Where woken threads run: bounds of what the scheduler may choose.
enum class Wakes { as_recorded, all_local, all_remote };

struct ReplaySettings {
	Policy policy = Policy::fair;
	Wakes wakes = Wakes::as_recorded;
	bool resamples = false; // each iteration has the durations of one that is drawn
	std::uint64_t seed = 1;
	std::uint64_t max_operations = 100'000'000;
	std::size_t max_busy_times = 50'000'000; // memory: of all threads, a time for each activity
};

// What the time was used for: an activity, a lock, a role, the CPUs, sleep, "fixed".
struct Load {
	std::string name;
	double share = 0; // of the time
};

// How long an activity within a lock took: after the same thread had the lock, and after another one had.
struct LockedActivity {
	std::string name;
	std::vector<double> after_itself, after_others;
};

struct Replayed {
	Nanoseconds elapsed = 0; // with Model::fixed_ns
	Load limit;              // what has the largest share
	std::vector<LockedActivity> locked;
	std::uint64_t events = 0;
};

// Of the threads of this model
inline Policy policy_of(const model::Model &model)
{
	return model.is_realtime ? Policy::round_robin : Policy::fair;
}

// `samples` may be none if the model needs none. Names of `change` that the model has not are ignored. Throws Error if
// threads wait for what never happens, or if the model has more operations, or its scheduling more events, than can be
// replayed in a minute.
Replayed replay(const model::Model &model, const model::SampleSet *samples, const Change &change,
		const ReplaySettings &settings);

// Of each recording; of a model without one, once.
std::vector<Replayed> replay_all(const model::Model &model, const Change &change, const ReplaySettings &settings);
// In ns
std::vector<double> elapsed_of(const std::vector<Replayed> &replays);

std::uint32_t threads_of(const model::Role &role, const Change &change);

// How many times as long an activity takes because of the number of threads: those that meet at a barrier share the
// work of an iteration. time_factor(): because of all changes.
double work_factor(const model::Model &model, const Change &change, const std::string &activity);
double time_factor(const model::Model &model, const Change &change, const std::string &activity);

} // namespace monitor::simulation
