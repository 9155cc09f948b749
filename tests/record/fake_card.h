// SPDX-License-Identifier: MIT
// Rings without a kernel: the declarations of CardMemory and BpfCard, with memory of this process (fake_card.cpp), and
// the probes' part, so that blocks come and go as the test says.
#pragma once

#include <cstdint>
#include <vector>

#include "recording/card/bpf_card.h"

namespace fake {

monitor::card::CardOptions options(unsigned cpus, std::uint64_t blocks_per_cpu);

// Posts tokens as a probe does (bpf/post.bpf.h), each with one payload word. False: it was refused.
bool post(monitor::card::CardMemory &card, unsigned cpu, unsigned level, std::uint64_t time, std::uint64_t word);
// The same in a flight recorder's ring, which overwrites; of a writer that sees this hold (0: none), or else the
// card's.
bool post_in_flight(monitor::card::CardMemory &card, unsigned cpu, unsigned level, std::uint64_t time,
		    std::uint64_t word, const std::uint64_t *hold = nullptr);
// What BpfCard::misses() says from now on, of the probe of sched_waking.
void set_misses(std::uint64_t misses);

// So many that a whole block is filled, and the first of the next one.
void fill_block(monitor::card::CardMemory &card, unsigned cpu, unsigned level, std::uint64_t time, std::uint64_t word);

// 0, 1, 2 ...: the words of tokens that were posted one after the other.
std::vector<std::uint64_t> numbers(std::uint64_t count);

inline constexpr unsigned records_in_block = (EDC_BLOCK_SIZE - EDC_BLOCK_HEADER) / 16;

} // namespace fake
