// SPDX-License-Identifier: MIT
#include "ended_by.h"

namespace monitor::path {
namespace {

// The kernel's numbers, which other tracers record without names.
constexpr std::uint32_t softirq_timer = 1, softirq_block = 4, softirq_hrtimer = 8;

EndedBy ended_by_softirq(std::uint32_t vec)
{
	return vec == softirq_timer || vec == softirq_hrtimer ? EndedBy::timer
	       : vec == softirq_block                         ? EndedBy::disk
							      : EndedBy::unknown;
}

} // namespace

EndedBy ended_by(const Part &part, const analyze::EventKinds &kinds)
{
	if (part.detail == analyze::stopped_call)
		return EndedBy::signal;
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
	if (analyze::EventKinds::is_softirq(which))
		return ended_by_softirq(part.cause & 0xffff);
	switch (kinds.interrupt_source(which, part.cause & 0xffff)) {
	case analyze::InterruptSource::timer:
		return EndedBy::timer;
	case analyze::InterruptSource::device:
		return EndedBy::device;
	case analyze::InterruptSource::unknown:
		break;
	}
	return EndedBy::unknown;
}

bool is_unknown(const Part &part, const analyze::EventKinds &kinds)
{
	return part.kind == PartKind::unknown || part.kind == PartKind::unknown_mode ||
	       part.kind == PartKind::ready_unknown ||
	       (part.kind == PartKind::asleep && ended_by(part, kinds) == EndedBy::unknown);
}

} // namespace monitor::path
