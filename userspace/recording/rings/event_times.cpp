// SPDX-License-Identifier: MIT
#include "event_times.h"

#include <algorithm>

namespace monitor::record {
namespace {

std::uint64_t read(const __u64 &value)
{
	return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

void add(EventTime &all, const edc_timed &timed)
{
	recording_file::EventTimeOfCpu &cpu = all.by_cpu.emplace_back();
	cpu.total = read(timed.sum);
	for (unsigned i = 0; i < EDC_TIMED_BUCKETS; ++i)
		if (const std::uint64_t number = read(timed.bucket[i])) {
			all.buckets[i] += number;
			cpu.number += number;
		}
	all.starts += read(timed.starts);
	all.replaced += read(timed.replaced);
	all.forgotten += read(timed.forgotten);
	all.ends += read(timed.ends);
	if (cpu.number == 0)
		return;
	const std::uint64_t shortest = ~read(timed.not_shortest);
	all.shortest = all.number ? std::min(all.shortest, shortest) : shortest;
	all.longest = std::max(all.longest, read(timed.longest));
	all.number += cpu.number;
	all.total += cpu.total;
}

} // namespace

std::vector<EventTime> event_times(const std::vector<NamedTime> &times, const card::CardMemory *card)
{
	std::vector<EventTime> all;
	for (std::size_t i = 0; i < times.size(); ++i) {
		static_cast<NamedTime &>(all.emplace_back()) = times[i];
		for (unsigned cpu = 0; card && cpu < card->cpus(); ++cpu)
			add(all[i], card->area(cpu).timed[i]);
	}
	return all;
}

} // namespace monitor::record
