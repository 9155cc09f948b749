// SPDX-License-Identifier: MIT
// Times, names and limits of simulated agents. Used by fleet_agents.cpp and fleet_snapshots.h.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include <sys/resource.h>
#include <time.h>

inline double now_s()
{
	timespec time;
	::clock_gettime(CLOCK_MONOTONIC, &time);
	return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

inline std::uint64_t now_ns()
{
	timespec time;
	::clock_gettime(CLOCK_MONOTONIC, &time);
	return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

inline double cpu_s()
{
	rusage usage;
	::getrusage(RUSAGE_SELF, &usage);
	const auto seconds = [](const timeval &time) {
		return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
	};
	return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

inline std::string host_of(unsigned number)
{
	char name[16];
	std::snprintf(name, sizeof name, "a%05u", number);
	return name;
}

// So many connections as this process may have; how many that is.
inline rlim_t raise_file_limit()
{
	rlimit files;
	::getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	::setrlimit(RLIMIT_NOFILE, &files);
	return files.rlim_cur;
}
