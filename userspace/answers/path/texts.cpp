// SPDX-License-Identifier: MIT
#include "texts.h"

#include <fmt/format.h>

#include "ended_by.h"

namespace monitor::path {
namespace {

std::string end_text(const Part &part, const analyze::EventKinds &kinds)
{
	switch (part.end) {
	case End::open:
		return "the end";
	case End::thread:
		return "a thread at the same moment";
	case End::interrupt:
		return ended_by(part, kinds) == EndedBy::timer
			   ? "timer"
			   : kinds.interrupt_label(part.cause >> 16, part.cause & 0xffff);
	case End::device:
		return kinds.disk_label(part.cause);
	case End::network:
		return "network";
	case End::hidden:
		return "a hidden thread";
	case End::not_recorded:
		return fmt::format("a process that is not recorded ({}), or an interrupt", part.cause);
	case End::led:
	case End::unknown:
		break;
	}
	return "unknown waker";
}

const char *why_text(Why why)
{
	switch (why) {
	case Why::lost:
		return "unknown: events were lost";
	case Why::hidden:
		return "unknown: hidden thread";
	case Why::not_recorded:
		return "unknown: not recorded";
	case Why::beside_hidden:
		return "unknown: no event tells, perhaps beside a hidden thread";
	case Why::no_event:
		break;
	}
	return "unknown: no event tells";
}

} // namespace

std::string call_text(std::uint32_t call, const analyze::EventKinds &kinds)
{
	switch (call) {
	case in_fault:
		return "page fault";
	case unknown_call:
		return "unknown call";
	case EDC_NO_SYSCALL:
		return "no call";
	case analyze::stopped_call:
		return "a stop by a signal";
	case analyze::traced_call:
		return "a stop by its tracer";
	default:
		return kinds.syscall_label(call);
	}
}

std::string what_text(const Part &part, const analyze::EventKinds &kinds, const Names &names)
{
	switch (part.kind) {
	case PartKind::user:
		return "running: user";
	case PartKind::call:
		return "running: call " + kinds.syscall_label(part.detail);
	case PartKind::fault:
		return "running: page fault";
	case PartKind::kernel:
		return "running: kernel";
	case PartKind::interrupt:
		return "running: " + kinds.interrupt_label(part.detail >> 16, part.detail & 0xffff);
	case PartKind::unattributed:
		return "running: unattributed";
	case PartKind::unknown_mode:
		return "running: unknown mode";
	case PartKind::ready_behind:
	case PartKind::ready_behind_own:
		return "ready: CPU had " + names[part.detail];
	case PartKind::ready_idle:
		return "ready: CPU idle";
	case PartKind::ready_unknown:
		return "ready: CPU unknown";
	case PartKind::throttled:
		return "throttled";
	case PartKind::asleep:
		if (part.detail == analyze::stopped_call)
			return "blocked: stopped by a signal";
		return fmt::format("blocked: {} until {}", call_text(part.detail, kinds), end_text(part, kinds));
	case PartKind::unknown:
		break;
	}
	return why_text(static_cast<Why>(part.detail));
}

std::string link_text(const Link &link, const Part &part, const analyze::EventKinds &kinds, const Names &names)
{
	if (link.stretch && link.stretch->kind == Kind::running)
		return "running";
	return link.stretch && link.stretch->kind == Kind::ready ? "ready" : what_text(part, kinds, names);
}

std::string thread_text(const ThreadStretches &of, std::uint64_t time, const Names &names)
{
	return fmt::format("{}-{}", names[of.name_at(time)], of.thread->tid);
}

} // namespace monitor::path
