// SPDX-License-Identifier: MIT
// The totals of record --count, from where they are counted: in each CPU's area, per level of probes, by the cards; and
// in the drain, for events of programs. Read by Recording, in any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recording/card/bpf_card.h"
#include "recording/user_card/user_card.h"

namespace monitor::record {

struct EventCount {
	std::vector<std::uint64_t> by_cpu; // by the probes; empty: the kernel's events were not recorded
	std::uint64_t of_programs = 0;

	std::uint64_t total() const;
};

// Either card may be missing. Of the first `counts` counts.
std::vector<EventCount> event_counts(std::size_t counts, const card::BpfCard *card, const card::UserCard *users);

} // namespace monitor::record
