// SPDX-License-Identifier: MIT
// Lists of the threads that there are: with their states and counts at both ends of a recording, and again after each
// pause in between, as threads that were created in it would have no names.
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

	// All that there are; those that the kernel hides from BPF have a flag.
	std::vector<edc_task> threads() const;
	void write(ControlStream &to, bool at_end) const;

	// `pauses`: how often triggers have paused so far. Lists the threads again if there was one more.
	void list_after_pause(std::uint64_t pauses);
	// After a phase without probes. In the thread of the phases.
	void list_after_phase();
	// What was listed. In the drain thread.
	void write_listed(ControlStream &to);

private:
	card::BpfCard &card_;
	const bool invariant_tsc_, filtering_;
	std::uint64_t pauses_ = 0; // after which they were listed
	std::mutex lock_;          // of:
	std::vector<edc_task> listed_;
};

} // namespace monitor::record
