#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real recording as babeltrace2 reads it: the same number of events, names, times in clock cycles and field values as
`monitor list --json`, and not a word on standard error, since nothing was lost. The comparison is the golden test's.
"""
import pathlib
import sys

import e2e

COMPARE = pathlib.Path(__file__).resolve().parent.parent / "golden" / "compare.py"


def same_events():
	trace = e2e.record_workload("recording", "forks", 100)
	trace.expect_true()
	e2e.equal("lost", trace.summary()["lost"], 0)
	names = {event["event"] for event in trace.events()}
	wanted = {"sync", "clock_set", "thread_state", "thread_counts", "sched_switch", "sched_waking", "sched_wakeup_new",
	          "sched_process_exec", "sched_process_exit", "task_rename", "sys_enter", "sys_exit", "page_fault_user",
	          "minor_fault", "local_timer_entry", "local_timer_exit"}
	e2e.expect(wanted <= names, f"the recording lacks {', '.join(sorted(wanted - names))}")
	print(e2e.run(sys.executable, COMPARE, e2e.monitor, trace.directory).stdout.strip())


if __name__ == "__main__":
	e2e.need_recording()
	e2e.need_program("babeltrace2")
	e2e.main(same_events)
