// SPDX-License-Identifier: MIT
// What a replay spent its time on, and what of it limits the program.
#pragma once

#include <string>
#include <vector>

#include "program.h"
#include "replay.h"

namespace monitor::simulation {

class Loads {
public:
	Loads(const model::Model &model, Nanoseconds elapsed, unsigned cpus);

	void add_thread(std::size_t role, const std::vector<Nanoseconds> &busy_by_activity, Nanoseconds slept);
	void add_lock(const std::string &name, Nanoseconds held);
	// The largest share of the elapsed time. Of nearly equal ones a lock's is returned, then an activity's, a
	// role's, the CPUs', that of sleep, that of the fixed time before and after all iterations.
	Load limit(const Names &activities) const;

private:
	struct Role {
		std::vector<Nanoseconds> busy, max_busy; // by activity: of all threads, of one
		Nanoseconds slept = 0, all = 0, max_all = 0;
		std::size_t threads = 0;
	};
	double share(std::size_t role, Nanoseconds of_all, Nanoseconds of_one) const;

	const model::Model &model_;
	double elapsed_, cpus_;
	Nanoseconds all_ = 0;
	std::vector<Load> locks_;
	std::vector<Role> roles_;
};

} // namespace monitor::simulation
