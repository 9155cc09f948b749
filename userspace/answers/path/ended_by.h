// SPDX-License-Identifier: MIT
// What ended the sleeps on a path, and which of its parts are unknown: one answer for all that show a path.
#pragma once

#include "parts.h"
#include "reading/analyze/event_kinds.h"

namespace monitor::path {

enum class EndedBy : std::uint8_t {
	nothing, // it had not ended at the end
	timer,
	disk,
	network,
	device, // an interrupt of a device, and not known which of these
	unknown // such as a softirq of the network that was not seen raised, of a device or of another program here
};

// Of a part of a sleep.
EndedBy ended_by(const Part &part, const analyze::EventKinds &kinds);
// Not known: what the thread did, in which mode, who had the CPU that it waited for, or what ended its sleep. Time that
// is unattributed is not: that the thread ran is known, and by calibration how much of it was on the way into calls.
bool is_unknown(const Part &part, const analyze::EventKinds &kinds);

} // namespace monitor::path
