// SPDX-License-Identifier: MIT
#include "thread_naming.h"

#include <string_view>
#include <utility>

namespace monitor::analyze {
namespace {

constexpr std::int32_t kthreadd = 2;

// The cgroup in a list of threads, which was made at `time`; of a snapshot, later.
void list_cgroup(Thread &thread, std::uint64_t cgroup, std::uint32_t flags, std::uint64_t time, bool is_snapshot,
		 const ThreadTable &threads, TimeAccount &times)
{
	if (cgroup == 0)
		return;
	if (flags & EDC_THREAD_LATER && is_snapshot)
		thread.cgroup_is_later = true;
	if (thread.cgroup == 0 || flags & EDC_THREAD_AT_END || thread.cgroup_is_later)
		thread.cgroup = cgroup;
	else
		move_to_cgroup(thread, cgroup, time, threads, times);
}

} // namespace

Thread &add_created(const EventKind &kind, const trace::Event &event, const FoldSettings &settings,
		    ThreadTable &threads)
{
	const auto tid = kind.field[0].get<std::int32_t>(event);
	const auto parent_tid = kind.field[2].get<std::int32_t>(event);
	Thread &thread = threads.add(tid);
	const Thread *parent = threads.find(parent_tid);
	thread.tgid = kind.field[1].get<std::int32_t>(event);
	thread.parent = parent ? parent->tgid : parent_tid;
	thread.name = kind.field[3].get<std::string_view>(event);
	thread.born = event.time;
	thread.introduced = true;
	thread.filtered = settings.is_filtering && (!parent || parent->filtered) && tid != settings.command_pid;
	thread.in_tree = (parent && parent->in_tree) || (settings.command_pid && tid == settings.command_pid);
	thread.is_kernel = parent_tid == kthreadd || (parent && parent->is_kernel);
	if (parent) {
		thread.cgroup = threads.cgroup_of(*parent);
		thread.cgroup_is_later = parent->cgroup_is_later;
	}
	threads.note_leader(thread);
	return thread;
}

Thread *add_listed(const EventKind &kind, const trace::Event &event, const FoldSettings &settings, ThreadTable &threads,
		   TimeAccount &times)
{
	const auto tid = kind.field[1].get<std::int32_t>(event);
	const auto flags = kind.field[8].get<std::uint32_t>(event);
	if (tid == 0)
		return nullptr;
	Thread &thread = threads.get(tid);
	if (thread.name.empty() || !(flags & EDC_THREAD_AT_END)) {
		thread.tgid = kind.field[2].get<std::int32_t>(event);
		thread.parent = kind.field[3].get<std::int32_t>(event);
		thread.name = kind.field[6].get<std::string_view>(event);
		thread.is_kernel = flags & EDC_THREAD_KERNEL;
		if (!(flags & EDC_THREAD_FILTERED))
			thread.filtered = false;
	}
	threads.note_leader(thread);
	list_cgroup(thread, kind.field[7].get(event), flags, event.time, settings.is_snapshot, threads, times);
	thread.hidden |= (flags & EDC_THREAD_HIDDEN) && thread.born == 0;
	thread.introduced = true;
	if (thread.hidden)
		threads.set_lists_hidden();
	const Thread *parent = threads.find(thread.parent);
	if ((settings.command_pid && (tid == settings.command_pid || thread.tgid == settings.command_pid)) ||
	    (parent && parent->in_tree))
		thread.in_tree = true;
	return &thread;
}

void add_process_state(const EventKind &kind, const trace::Event &event, ThreadTable &threads)
{
	const auto tid = kind.field[0].get<std::int32_t>(event);
	if (tid == 0)
		return;
	Thread &thread = threads.get(tid);
	thread.tgid = kind.field[1].get<std::int32_t>(event);
	thread.parent = kind.field[2].get<std::int32_t>(event);
	thread.name = kind.field[3].get<std::string_view>(event);
	thread.is_kernel = kind.field[4].get<std::uint32_t>(event) == 1; // LTTNG_KERNEL_THREAD
	if (thread.is_kernel)
		thread.ring = Ring::kernel;
	threads.note_leader(thread);
}

void rename_thread(const EventKind &kind, const trace::Event &event, ThreadTable &threads)
{
	Thread &thread = threads.get(kind.field[0].get<std::int32_t>(event));
	thread.name = kind.field[1].get<std::string_view>(event);
	if (kind.field[2]) // perf says which thread it is
		thread.tgid = kind.field[2].get<std::int32_t>(event);
}

void name_exited(const EventKind &kind, const trace::Event &event, ThreadTable &threads)
{
	if (!kind.field[2])
		return;
	Thread &thread = threads.get(kind.field[0].get<std::int32_t>(event));
	thread.filtered = false; // other tracers have no filter
	if (!thread.name.empty())
		return;
	if (kind.field[1])
		thread.tgid = kind.field[1].get<std::int32_t>(event);
	thread.name = kind.field[2].get<std::string_view>(event);
	thread.introduced = true;
}

void name_switched(Thread &prev, Thread &next, const EventKind &kind, const trace::Event &event, ThreadTable &threads)
{
	if (next.tid != 0)
		next.name = kind.field[3].get<std::string_view>(event);
	if (prev.tid == 0)
		return;
	if (kind.field[4])
		prev.name = kind.field[4].get<std::string_view>(event);
	if (const auto process = kind.field[5].get<std::int32_t>(event); process > 0)
		prev.tgid = process;
	threads.note_leader(prev);
}

void set_counts(const EventKind &kind, const trace::Event &event, ThreadTable &threads)
{
	const auto when = kind.field[0].get<std::uint32_t>(event);
	Thread &thread = threads.get(kind.field[1].get<std::int32_t>(event));
	ThreadCounts &counts = when == EDC_WHEN_START ? thread.at_start
			       : when == EDC_WHEN_END ? thread.at_end
						      : thread.at_exit;
	counts = {true,
		  event.time,
		  kind.field[2].get(event),
		  kind.field[3].get(event),
		  kind.field[4].get(event),
		  kind.field[5].get(event),
		  kind.field[6].get(event)};
}

void move_to_cgroup(Thread &thread, std::uint64_t cgroup, std::uint64_t time, const ThreadTable &threads,
		    TimeAccount &times)
{
	const bool is_later = std::exchange(thread.cgroup_is_later, false);
	times.move(thread, is_later ? 0 : threads.cgroup_of(thread), cgroup, time);
}

void move_attached(const EventKind &kind, const trace::Event &event, ThreadTable &threads, TimeAccount &times)
{
	if (kind.field[3].get(event) != 0)
		return; // it moved in a hierarchy of cgroup v1
	Thread &named = threads.get(kind.field[0].get<std::int32_t>(event));
	const std::uint64_t cgroup = kind.field[1].get(event);
	move_to_cgroup(named, cgroup, event.time, threads, times);
	const bool whole_process = kind.field[2].get(event) != 0; // then the token has the leader
	if (!whole_process || !named.leads_others)
		return;
	for (Thread &thread : threads.all())
		if (thread.tgid == named.tgid && thread.state != State::dead && threads.find(thread.tid) == &thread)
			move_to_cgroup(thread, cgroup, event.time, threads, times);
}

} // namespace monitor::analyze
