// SPDX-License-Identifier: MIT
// Which kinds of events a trace can have: counts of a kind that was not recorded are unknown, not 0.
#pragma once

#include "event_kinds.h"
#include "reading/events/trace.h"
#include "recording_info.h"
#include "thread.h"

namespace monitor::analyze {

struct Recorded {
	bool wakings = true, migrations = true, calls = true, faults = true, interrupts = true, softirqs = true;
	bool throttled = false; // switches say which threads are throttled

	// Time in interrupts that were not recorded is in the mode that they interrupted. Time that may be user or
	// kernel is unattributed.
	bool knows(const Usage &usage, Mode mode) const
	{
		switch (mode) {
		case Mode::irq:
			return interrupts;
		case Mode::softirq:
			return softirqs;
		case Mode::user:
		case Mode::kernel:
			return usage[mode] || !usage[Mode::unattributed];
		default:
			return true;
		}
	}
};

// For a recording of this monitor.
inline Recorded recorded(const RecordingInfo &info)
{
	return {info.has_program("sched_waking"),
		info.has_program("sched_migrate_task"),
		info.has_program("sys_enter"),
		info.has_program("minor_fault"),
		info.has_program("irq_handler_entry"),
		info.has_program("softirq_entry"),
		info.knows_throttled()};
}

inline Recorded recorded(const trace::Trace &trace, const RecordingInfo &info, const EventKinds &kinds)
{
	if (trace.is_generic_ctf())
		return {kinds.has(EventMeaning::sched_waking),
			kinds.has(EventMeaning::sched_migrate_task),
			kinds.has_calls(),
			kinds.has(EventMeaning::minor_fault),
			kinds.has_interrupts(false),
			kinds.has_interrupts(true),
			false};
	return info.present ? recorded(info) : Recorded();
}

} // namespace monitor::analyze
