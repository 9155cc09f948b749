// SPDX-License-Identifier: MIT
// The results of record --time, from where they are folded: in each CPU's area, by the probes (monitor/timing.h). Read
// by Recording, in any thread; while probes run, the parts of a result may be some events apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recording/card/bpf_card.h"

namespace monitor::record {

// Durations in ticks.
struct EventTime {
	struct OfCpu {
		std::uint64_t number = 0, total = 0;
	};

	std::uint64_t number = 0, total = 0;
	std::uint64_t shortest = 0, longest = 0;                         // 0 if there are none
	std::uint64_t starts = 0, replaced = 0, forgotten = 0, ends = 0; // as in edc_timed
	std::array<std::uint64_t, EDC_TIMED_BUCKETS> buckets{};
	std::vector<OfCpu> by_cpu; // where they ended
};

// Of the first `times` times. Without a card there is nothing.
std::vector<EventTime> event_times(std::size_t times, const card::BpfCard *card);

} // namespace monitor::record
