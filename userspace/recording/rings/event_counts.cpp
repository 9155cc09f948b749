// SPDX-License-Identifier: MIT
#include "event_counts.h"

#include <numeric>

namespace monitor::record {

std::uint64_t EventCount::total() const
{
	return std::accumulate(by_cpu.begin(), by_cpu.end(), of_programs);
}

std::vector<EventCount> event_counts(std::size_t counts, const card::BpfCard *card, const card::UserCard *users)
{
	std::vector<EventCount> all(counts);
	const std::vector<std::uint64_t> matched = users ? users->counts().matched : std::vector<std::uint64_t>();
	for (std::size_t i = 0; i < counts; ++i) {
		for (unsigned cpu = 0; card && cpu < card->cpus(); ++cpu) {
			std::uint64_t sum = 0;
			for (const edc_level &level : card->area(cpu).level)
				sum += __atomic_load_n(&level.count[i], __ATOMIC_RELAXED);
			all[i].by_cpu.push_back(sum);
		}
		all[i].of_programs = i < matched.size() ? matched[i] : 0;
	}
	return all;
}

} // namespace monitor::record
