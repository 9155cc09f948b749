// SPDX-License-Identifier: MIT
// Tokens that say who a thread is: its number, process, name, parent, cgroup, and what the kernel counted for it. They
// apply at all times, also while not all probes are attached. What the thread is doing is not changed here.
#pragma once

#include <cstdint>

#include "event_kinds.h"
#include "fold_settings.h"
#include "reading/events/event.h"
#include "thread.h"
#include "thread_table.h"
#include "time_account.h"

namespace monitor::analyze {

// The token of its creation: it has its number from now on.
Thread &add_created(const EventKind &kind, const trace::Event &event, const FoldSettings &settings,
		    ThreadTable &threads);
// A row of the list of threads; null: of an idle thread.
Thread *add_listed(const EventKind &kind, const trace::Event &event, const FoldSettings &settings, ThreadTable &threads,
		   TimeAccount &times);
// The same of LTTng, which lists threads while it records: what they were doing then is not taken, for their switches
// say it.
void add_process_state(const EventKind &kind, const trace::Event &event, ThreadTable &threads);
void rename_thread(const EventKind &kind, const trace::Event &event, ThreadTable &threads);
// In a flight recorder's snapshot the exit may be the only token that names the thread.
void name_exited(const EventKind &kind, const trace::Event &event, ThreadTable &threads);
// Other tracers' switches say what both threads are called, and some which process the first one is of.
void name_switched(Thread &prev, Thread &next, const EventKind &kind, const trace::Event &event, ThreadTable &threads);
void set_counts(const EventKind &kind, const trace::Event &event, ThreadTable &threads);

void move_to_cgroup(Thread &thread, std::uint64_t cgroup, std::uint64_t time, const ThreadTable &threads,
		    TimeAccount &times);
// A token of cgroup_attach_task.
void move_attached(const EventKind &kind, const trace::Event &event, ThreadTable &threads, TimeAccount &times);

} // namespace monitor::analyze
