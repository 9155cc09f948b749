// SPDX-License-Identifier: MIT
// Runs the preflight and the calibration in a separate thread, pinned to one CPU, with the normal scheduling policy and
// nice -20; its threads inherit that. The recorder's own policy may be real-time (chrt, a service's
// CPUSchedulingPolicy), under which a loop would starve the threads that it waits for.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <thread>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace monitor::card {

inline std::chrono::nanoseconds cpu_time(clockid_t clock = CLOCK_THREAD_CPUTIME_ID)
{
	timespec now;
	::clock_gettime(clock, &now);
	return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// CPU time of one call, in ns.
inline double ns_per_call(void (*function)(), unsigned calls)
{
	const std::chrono::nanoseconds start = cpu_time();
	for (unsigned i = 0; i < calls; ++i)
		function();
	return static_cast<double>((cpu_time() - start).count()) / calls;
}

// False if the kernel does not let this thread run there.
inline bool pin_to(unsigned cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

// Returns when `trial` has returned; rethrows what it throws.
inline void run_trial(int cpu, const std::function<void()> &trial)
{
	std::exception_ptr failure;
	std::jthread([&] {
		pin_to(static_cast<unsigned>(cpu));
		::prctl(PR_SET_NAME, "monitor-test"); // to be recognised in the recordings of others
		const sched_param usual{};
		::sched_setscheduler(0, SCHED_OTHER, &usual);
		::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), -20); // over soon, even on a loaded machine
		try {
			trial();
		} catch (...) {
			failure = std::current_exception();
		}
	}).join();
	if (failure)
		std::rethrow_exception(failure);
}

} // namespace monitor::card
