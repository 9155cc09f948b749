// SPDX-License-Identifier: MIT
#include "class_counts.h"

#include <algorithm>

#include "base/ranges.h"
#include "blocks.h"
#include "recording/card/classes.h"

namespace monitor::record {
ClassCountReader::ClassCountReader(const card::BpfCard &card) : card_(card), misses_before_(misses())
{
	for (const card::ClassRow &row : card::kernel_classes())
		slots_.push_back(row.id - EDC_ID_KERNEL_FIRST);
	seen_.resize(std::size_t{card.cpus()} * EDC_CARD_LEVELS * slots_.size());
}

std::uint64_t ClassCountReader::misses() const
{
	return sum_of_all<std::uint64_t>(card_.misses(), [](const auto &each) { return each.second; });
}

const CountsByClass &ClassCountReader::read()
{
	const auto load = [](const __u64 &count) { return __atomic_load_n(&count, __ATOMIC_RELAXED); };
	const auto visit = [this](auto &&call) {
		auto at = seen_.begin();
		for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu)
			for (unsigned level = 0; level < EDC_CARD_LEVELS; ++level)
				for (const unsigned slot : slots_)
					call(card_.area(cpu).level[level], slot, *at++);
	};
	visit([&](const edc_level &level, unsigned slot, std::uint64_t &seen) { seen = load(level.seen[slot]); });
	order_memory(); // read `seen` before `filtered`, see only_count() in bpf/post.bpf.h
	std::array<std::uint64_t, EDC_CARD_CLASSES> sums{};
	visit([&](const edc_level &level, unsigned slot, std::uint64_t seen) {
		// `filtered` may include events rejected after `seen` was read.
		sums[slot] += seen - std::min<std::uint64_t>(seen, load(level.filtered[slot]));
	});
	for (const unsigned slot : slots_)
		counts_.number[slot] = std::max(counts_.number[slot], sums[slot]);
	std::uint64_t lost = misses() - misses_before_;
	for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu)
		for (const unsigned slot : slots_)
			lost += load(card_.area(cpu).too_deep[slot]);
	counts_.lost = std::max(counts_.lost, lost);
	return counts_;
}

} // namespace monitor::record
