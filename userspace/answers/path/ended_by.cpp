// SPDX-License-Identifier: MIT
#include "ended_by.h"

#include <string>

namespace monitor::path {

EndedBy ended_by(const Part &part, const analyze::EventKinds &kinds)
{
	switch (part.end) {
	case End::open:
		return EndedBy::nothing;
	case End::device:
		return EndedBy::disk;
	case End::network:
		return EndedBy::network;
	case End::interrupt:
		break;
	default:
		return EndedBy::unknown;
	}
	const std::uint32_t which = part.cause >> 16;
	const std::string label = kinds.interrupt_label(which, part.cause & 0xffff);
	if (label == "irq:local_timer" || label == "softirq:TIMER" || label == "softirq:HRTIMER")
		return EndedBy::timer;
	if (label == "softirq:BLOCK")
		return EndedBy::disk;
	return kinds.interrupt_name(which) == "irq_handler" ? EndedBy::device : EndedBy::unknown;
}

bool is_unknown(const Part &part, const analyze::EventKinds &kinds)
{
	return part.doing == Doing::unknown || part.doing == Doing::unknown_mode ||
	       part.doing == Doing::ready_unknown ||
	       (part.doing == Doing::asleep && ended_by(part, kinds) == EndedBy::unknown);
}

} // namespace monitor::path
