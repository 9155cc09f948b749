// SPDX-License-Identifier: MIT
#include "thread_lists.h"

#include <utility>

#include "proc_tasks.h"
#include "recording/recorder/process_numbers.h"
#include "recording/rings/clock.h"

namespace monitor::record {

std::vector<edc_task> ThreadLists::threads() const
{
	std::vector<edc_task> tasks = card_.list_tasks();
	if (tasks.empty() || !in_first_pid_namespace())
		return tasks; // without the kernel's list /proc is useless: other PIDs
	std::vector<edc_task> hidden = tasks_only_in_proc(tasks, read_sync(invariant_tsc_).time, filtering_);
	if (!hidden.empty())
		drop_new_tasks(hidden, card_.list_tasks());
	tasks.insert(tasks.end(), hidden.begin(), hidden.end());
	return tasks;
}

void ThreadLists::write(ControlStream &to, bool at_end) const
{
	for (const edc_task &task : threads()) {
		to.thread_state(task, at_end);
		if (!(task.flags & EDC_THREAD_HIDDEN)) // unknown if hidden
			to.thread_counts(task, at_end);
	}
}

void ThreadLists::list_after_pause(std::uint64_t pauses)
{
	if (pauses == pauses_)
		return;
	const std::lock_guard guard(lock_);
	if (!listed_.empty())
		return; // retry later: at most one list per write of the drain
	pauses_ = pauses;
	listed_ = threads();
}

void ThreadLists::list_after_phase()
{
	std::vector<edc_task> all = threads();
	const std::lock_guard guard(lock_);
	listed_ = std::move(all);
}

void ThreadLists::write_listed(ControlStream &to)
{
	const std::lock_guard guard(lock_);
	for (edc_task &thread : listed_) {
		thread.flags |= EDC_THREAD_LATER; // its state is valid at this moment only
		to.thread_state(thread, false);
	}
	listed_.clear();
}

} // namespace monitor::record
