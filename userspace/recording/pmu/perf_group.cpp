// SPDX-License-Identifier: MIT
#include "perf_group.h"

#include <cerrno>

#include <sys/syscall.h>

namespace monitor::pmu {

std::vector<Fd> open_group(std::vector<perf_event_attr> attributes, int pid, int cpu)
{
	std::vector<Fd> opened;
	for (perf_event_attr &one : attributes) {
		one.size = sizeof one;
		one.disabled = opened.empty();
		const int leader = opened.empty() ? -1 : opened.front().get();
		Fd fd(static_cast<int>(::syscall(SYS_perf_event_open, &one, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC)));
		if (!fd) {
			const int why = errno; // closing the others may change it
			opened.clear();
			errno = why;
			return opened;
		}
		opened.push_back(std::move(fd));
	}
	return opened;
}

} // namespace monitor::pmu
