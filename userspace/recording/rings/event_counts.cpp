// SPDX-License-Identifier: MIT
#include "event_counts.h"

namespace monitor::record {

std::vector<EventCount> event_counts(const std::vector<NamedExpression> &counts, const card::CardMemory *card,
				     const card::UserCard *users)
{
	std::vector<EventCount> all;
	const std::vector<std::uint64_t> matched = users ? users->counts().matched : std::vector<std::uint64_t>();
	for (std::size_t i = 0; i < counts.size(); ++i) {
		EventCount &of = all.emplace_back();
		static_cast<NamedExpression &>(of) = counts[i];
		for (unsigned cpu = 0; card && cpu < card->cpus(); ++cpu) {
			std::uint64_t sum = 0;
			for (const edc_level &level : card->area(cpu).level)
				sum += __atomic_load_n(&level.count[i], __ATOMIC_RELAXED);
			of.by_cpu.push_back(sum);
			of.count += sum;
		}
		of.of_programs = i < matched.size() ? matched[i] : 0;
		of.count += of.of_programs;
	}
	return all;
}

} // namespace monitor::record
