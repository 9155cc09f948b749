// SPDX-License-Identifier: MIT
// Threads that the kernel does not list: those of /proc, less what a second list or their end explains.
#include <catch2/catch.hpp>

#include <algorithm>
#include <climits>
#include <vector>

#include <unistd.h>

#include "recording/session/proc_tasks.h"

namespace test_proc_tasks {

using monitor::record::drop_new_tasks, monitor::record::tasks_only_in_proc;

namespace {

edc_task task_of(int pid)
{
	edc_task task{};
	task.pid = task.tgid = pid;
	return task;
}

} // namespace

TEST_CASE("proc tasks: what is not listed is hidden, unless it was created between two lists or has ended")
{
	std::vector<edc_task> hidden = tasks_only_in_proc({task_of(1)}, 7, false);
	CHECK(std::ranges::count(hidden, 1, &edc_task::pid) == 0);
	const auto own = std::ranges::find(hidden, ::getpid(), &edc_task::pid);
	REQUIRE(own != hidden.end());
	CHECK((own->time == 7 && own->ppid == ::getppid() && own->flags == EDC_THREAD_HIDDEN));
	hidden = {task_of(1), *own, task_of(INT_MAX)}; // no process has the last number
	drop_new_tasks(hidden, {task_of(1)});
	REQUIRE(hidden.size() == 1);
	CHECK(hidden[0].pid == ::getpid());
}

} // namespace test_proc_tasks
