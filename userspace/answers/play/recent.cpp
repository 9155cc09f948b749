// SPDX-License-Identifier: MIT
#include "recent.h"

#include <utility>

namespace monitor::play {
namespace {

Party party_of(const analyze::ThreadFold &fold, const analyze::Thread &thread)
{
	return {thread.tid, name_of(thread), name_of(fold.leader(thread))};
}

template <class T> void keep(std::deque<T> &kept, T added)
{
	if (kept.size() == Recent::max_kept)
		kept.pop_front();
	kept.push_back(std::move(added));
}

} // namespace

std::string name_of(const analyze::Thread &thread)
{
	return thread.filtered ? "other" : thread.name.empty() ? "?" : thread.name;
}

void Recent::watch(analyze::ThreadFold &fold, Placement &placement)
{
	fold_ = &fold;
	placement_ = &placement;
	fold.add(*this);
}

void Recent::blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker)
{
	WakeUp wake_up = {to, to - from, {}, party_of(*fold_, thread), {}};
	const analyze::EventKinds &kinds = fold_->kinds();
	if (waker.interrupt >= 0)
		wake_up.waker.thread = kinds.interrupt_label(static_cast<std::uint32_t>(waker.interrupt), waker.number);
	else if (waker.thread)
		wake_up.waker = party_of(*fold_, *waker.thread);
	if (thread.syscall != EDC_NO_SYSCALL)
		wake_up.call = kinds.syscall_label(thread.syscall);
	keep(wake_ups_, std::move(wake_up));
}

void Recent::user_event(const analyze::Thread &thread, const trace::Event &event)
{
	keep(posted_, {event.time, party_of(*fold_, thread), event.cls->name});
}

void Recent::exchanged(const analyze::Thread &one, const analyze::Thread &other)
{
	placement_->exchange(one.tid, other.tid);
}

} // namespace monitor::play
