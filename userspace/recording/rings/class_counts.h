// SPDX-License-Identifier: MIT
// Reads the probes' counts by class while they run (record --statistics --count-only). Counts never decrease, so no
// event is lost or counted twice.
//
//     ClassCountReader reader(card);       // before the probes are attached
//     const CountsByClass &so_far = reader.read();
//
// One thread at a time. The probes' part is only_count() in bpf/post.bpf.h.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "recording/card/bpf_card.h"

namespace monitor::record {

struct CountsByClass {
	std::array<std::uint64_t, EDC_CARD_CLASSES> number{}; // by class, of the chosen processes
	std::uint64_t lost = 0; // counted in no class: too deep, or the kernel refused to run the probe
};

class ClassCountReader {
public:
	explicit ClassCountReader(const card::BpfCard &card);

	// Counts never decrease between reads.
	const CountsByClass &read();

private:
	std::uint64_t misses() const;

	const card::BpfCard &card_;
	const std::uint64_t misses_before_;
	std::vector<unsigned> slots_;     // of the classes that there are
	std::vector<std::uint64_t> seen_; // by CPU, level and these
	CountsByClass counts_;
};

} // namespace monitor::record
