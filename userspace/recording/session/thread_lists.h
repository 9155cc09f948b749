// SPDX-License-Identifier: MIT
// Lists all threads with states and counts at both ends of a recording, and after each pause, since threads created in
// a pause would have no names.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "recording/card/bpf_card.h"
#include "recording/rings/control_stream.h"

namespace monitor::record {

class ThreadLists {
public:
	ThreadLists(card::BpfCard &card, bool invariant_tsc, bool filtering)
	    : card_(card), invariant_tsc_(invariant_tsc), filtering_(filtering)
	{
	}

	// All threads; those that the kernel hides from BPF have a flag.
	std::vector<edc_task> threads() const;
	void write(ControlStream &to, bool at_end) const;

	// `pauses`: number of pauses so far. Lists the threads again if it has increased.
	void list_after_pause(std::uint64_t pauses);
	// Called after a phase without probes, in the thread of the phases.
	void list_after_phase();
	// Writes the new lists. In the drain thread.
	void write_listed(ControlStream &to);

private:
	card::BpfCard &card_;
	const bool invariant_tsc_, filtering_;
	std::uint64_t pauses_ = 0; // at the last list
	std::mutex lock_;          // of:
	std::vector<edc_task> listed_;
};

} // namespace monitor::record
