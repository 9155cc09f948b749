// SPDX-License-Identifier: MIT
#include "path_part.h"

#include <string>

#include <fmt/format.h>

#include "answers/path/ended_by.h"
#include "answers/path/texts.h"

namespace monitor::explain {
namespace {

using path::EndedBy;
using path::PartKind;

PathPart sleep_part(const path::Part &part, const analyze::EventKinds &kinds)
{
	PathPart made;
	made.detail = part.detail == EDC_NO_SYSCALL ? "the kernel" : path::call_text(part.detail, kinds);
	const bool is_interrupt = part.end == path::End::interrupt;
	const std::string label =
	    is_interrupt ? kinds.interrupt_label(part.cause >> 16, part.cause & 0xffff) : std::string();
	switch (path::ended_by(part, kinds)) {
	case EndedBy::nothing:
		made.what = What::open;
		break;
	case EndedBy::signal:
		made.what = What::stopped;
		made.detail.clear();
		break;
	case EndedBy::timer:
		made.what = What::timer;
		break;
	case EndedBy::disk:
		made.what = What::disk;
		made.detail += is_interrupt ? "" : " on " + kinds.disk_label(part.cause);
		break;
	case EndedBy::network:
		made.what = What::network;
		break;
	case EndedBy::device:
		made.what = What::interrupt;
		made.detail += " until " + label;
		break;
	case EndedBy::unknown:
		made.detail = "what ended sleep in " + made.detail +
			      (is_interrupt ? " in " + label
			       : part.end == path::End::not_recorded
				   ? fmt::format(" where process {} ran, which is not recorded", part.cause)
				   : "");
		break;
	}
	return made;
}

} // namespace

PathPart path_part(const path::Part &part, const path::Stretches &stretches, const analyze::EventKinds &kinds)
{
	PathPart made;
	switch (part.kind) {
	case PartKind::user:
		made.what = What::user;
		break;
	case PartKind::call:
		made.what = What::call;
		made.detail = kinds.syscall_label(part.detail);
		break;
	case PartKind::fault:
		made.what = What::fault;
		break;
	case PartKind::kernel:
		made.what = What::kernel;
		break;
	case PartKind::interrupt:
		made.what = analyze::EventKinds::is_softirq(part.detail >> 16) ? What::softirq : What::irq;
		made.detail = kinds.interrupt_label(part.detail >> 16, part.detail & 0xffff);
		break;
	case PartKind::ready_behind:
	case PartKind::ready_behind_own:
		made.what = part.kind == PartKind::ready_behind ? What::ready_others : What::ready_own;
		made.detail = stretches.names()[part.detail];
		break;
	case PartKind::ready_idle:
		made.what = part.detail ? What::ready_idle_long : What::ready_idle;
		break;
	case PartKind::throttled:
		made.what = What::throttled;
		break;
	case PartKind::asleep:
		made = sleep_part(part, kinds);
		break;
	default:
		made.detail = path::what_text(part, kinds, stretches.names());
		break;
	}
	made.who = stretches.names()[part.name];
	return made;
}

} // namespace monitor::explain
