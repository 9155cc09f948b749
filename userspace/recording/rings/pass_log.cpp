// SPDX-License-Identifier: MIT
#include "pass_log.h"

#include <algorithm>
#include <utility>

#include "base/clock_ns.h"

namespace monitor::record {

void PassLog::enter()
{
	cpu_before_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void PassLog::begin(std::uint32_t why)
{
	pass_.why = why;
	pass_.start = read_time_();
}

void PassLog::begin_copying()
{
	cpu_copying_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void PassLog::end(unsigned fullest, bool is_stalled, bool is_last, std::uint64_t latest)
{
	const std::uint64_t time = std::min(read_time_(), latest);
	if (pool_.free_blocks() < pool_.blocks())
		for (const BlockWrite &write : pool_.take_writes())
			control_.block_write(write, time);
	if (!pass_.blocks && !is_stalled && !is_last) {
		++pass_.empty_passes;
		return;
	}
	const std::uint64_t cpu_now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const std::uint64_t copying = pass_.blocks ? cpu_copying_ : cpu_now;
	const std::uint64_t waking = copying - std::exchange(cpu_before_, cpu_now);
	const std::uint64_t share = waking / (std::uint64_t{pass_.empty_passes} + 1);
	pass_.cpu_ns = cpu_now - copying + share;
	pass_.empty_cpu_ns = waking - share;
	pass_.free_blocks = pool_.free_blocks();
	pass_.fullest = fullest;
	pass_.stalled = is_stalled;
	control_.drain_pass(std::exchange(pass_, {}), time);
}

} // namespace monitor::record
