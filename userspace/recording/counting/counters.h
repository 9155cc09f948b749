// SPDX-License-Identifier: MIT
// The counters of `record -m`: opened on every CPU, passed to the BPF card, which reads them at each switch, and read
// here at the start and the end of the recording, so that the tokens' sums can be compared with the kernel's own.
// Created by Recording before the probes attach. One thread.
#pragma once

#include <vector>

#include "base/fd.h"
#include "base/recording_file/counters.h"
#include "recording/card/bpf_card.h"
#include "recording/pmu/selection.h"

namespace monitor::record {

using recording_file::CounterReading;

class Counters {
public:
	// Opens and starts the sets on every online CPU; a CPU that lacks a set's counters is skipped. Throws Error if
	// all CPUs lack them.
	Counters(pmu::Selection selection, unsigned cpus);

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
