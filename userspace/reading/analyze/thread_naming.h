// SPDX-License-Identifier: MIT
// Tokens that identify a thread: its number, process, name, parent, cgroup, and what the kernel counted for it. They
// apply at all times, also while not all probes are attached. The thread's state is not changed here.
#pragma once

#include <cstdint>

#include "event_kinds.h"
#include "fold_settings.h"
#include "reading/events/event.h"
#include "thread.h"
#include "thread_table.h"
#include "time_account.h"

namespace monitor::analyze {

// A creation token: the thread has its number from now on.
Thread &add_created(const EventKind &kind, const trace::Event &event, const FoldSettings &settings,
		    ThreadTable &threads);
// An entry of the list of threads; null: an idle thread's.
Thread *add_listed(const EventKind &kind, const trace::Event &event, const FoldSettings &settings, ThreadTable &threads,
		   TimeAccount &times);
// An entry of LTTng's list, which is made while it records: the states in it are ignored, as switches have them.
void add_process_state(const EventKind &kind, const trace::Event &event, ThreadTable &threads);
void rename_thread(const EventKind &kind, const trace::Event &event, ThreadTable &threads);
// In a flight recorder's snapshot the exit may be the only token that names the thread.
void name_exited(const EventKind &kind, const trace::Event &event, ThreadTable &threads);
// Other tracers' switches have the names of both threads, and some the process of the first.
void name_switched(Thread &prev, Thread &next, const EventKind &kind, const trace::Event &event, ThreadTable &threads);
void set_counts(const EventKind &kind, const trace::Event &event, ThreadTable &threads);

void move_to_cgroup(Thread &thread, std::uint64_t cgroup, std::uint64_t time, const ThreadTable &threads,
		    TimeAccount &times);
// A token of cgroup_attach_task.
void move_attached(const EventKind &kind, const trace::Event &event, ThreadTable &threads, TimeAccount &times);

} // namespace monitor::analyze
