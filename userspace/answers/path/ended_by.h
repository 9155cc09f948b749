// SPDX-License-Identifier: MIT
// What ended the sleeps on a path, and which of its parts are unknown.
#pragma once

#include "parts.h"
#include "reading/analyze/event_kinds.h"

namespace monitor::path {

enum class EndedBy : std::uint8_t {
	nothing, // the sleep lasted until the end
	signal,  // of a stop by a signal: another one, whoever sent it
	timer,
	disk,
	network,
	device, // an interrupt of a device that may be a disk or a network card
	unknown // such as a network softirq whose raise has no event: by a device or by a local sender
};

// The part is of a sleep.
EndedBy ended_by(const Part &part, const analyze::EventKinds &kinds);
// Whether it is unknown what the thread did, in which mode, what ran on the CPU that it waited for, or what ended its
// sleep. Unattributed time does not count as unknown: the thread ran, in user mode or in the kernel.
bool is_unknown(const Part &part, const analyze::EventKinds &kinds);

} // namespace monitor::path
