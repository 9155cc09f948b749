// SPDX-License-Identifier: MIT
#include "pass_log.h"

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

void PassLog::end(unsigned fullest, bool is_stalled, bool is_last)
{
	const std::vector<BlockWrite> writes = pool_.take_writes();
	const std::uint64_t time = read_time_();
	for (const BlockWrite &write : writes)
		control_.block_write(write, time);
	const std::uint64_t cpu_now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	pass_.cpu_ns = cpu_now - std::exchange(cpu_before_, cpu_now);
	if (pass_.blocks || is_stalled || is_last) {
		pass_.free_blocks = pool_.free_blocks();
		pass_.fullest = fullest;
		pass_.stalled = is_stalled;
		control_.drain_pass(std::exchange(pass_, {}), time);
	} else {
		++pass_.empty_passes;
		pass_.empty_cpu_ns += pass_.cpu_ns;
	}
}

} // namespace monitor::record
