// SPDX-License-Identifier: MIT
// The counters of `record -m`: opened on every CPU, passed to the BPF card, which reads them at each switch, and read
// here at the start and the end of the recording, so that the tokens' sums can be compared with the kernel's own.
// Created by Recording before the probes attach. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fd.h"
#include "recording/card/bpf_card.h"
#include "recording/pmu/selection.h"

namespace monitor::record {

struct CounterReading {
	unsigned cpu = 0, set = 0;
	std::uint64_t time =
	    0; // trace clock: no token after it predates the start's reading, none before it postdates the end's
	std::uint64_t enabled_ns = 0, running_ns = 0;
	std::vector<std::uint64_t> values;
};

class Counters {
public:
	// Opens and starts the sets on every online CPU; a CPU that lacks a set's counters is skipped. Throws Error if
	// all CPUs lack them.
	Counters(pmu::Selection selection, unsigned cpus);

	const pmu::Selection &selection() const { return selection_; }
	void give_to(card::BpfCard &card) const;
	// By read(2), which queries each CPU. `invariant_tsc`: whether the trace clock is the TSC (clock.h).
	std::vector<CounterReading> read(bool at_end, bool invariant_tsc) const;

private:
	struct OpenSet {
		unsigned cpu, set;
		std::vector<Fd> counters; // the first one leads the group
	};

	int open_set(unsigned cpu, unsigned set);

	pmu::Selection selection_;
	std::vector<OpenSet> open_;
};

} // namespace monitor::record
