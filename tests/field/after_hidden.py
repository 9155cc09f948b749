#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls of threads that got the CPU from one that the kernel hides, as those of process 1 in some sandboxes: each is in the
row of its call. fio's preads beside its own count of them showed that one in ten was not."""
import os

import e2e

ROUNDS = 300


def expect_all_calls(trace):
	rows = trace.rows("syscalls", "--top", "0", "--comm", "after_hidden", process="after_hidden", call="pread64")
	counts = sorted(row["count"] for row in rows)[-os.cpu_count():]  # but for the loader's, of their parent
	e2e.equal("preads of each process", counts, [1000 * ROUNDS] * os.cpu_count())
	of_call = trace.report("syscalls", "--comm", "after_hidden")["summary"]
	e2e.equal("calls of nobody", (of_call["calls_of_unknown"], of_call["unknown_calls"]), (0, {}))
	trace.expect_true()


def all_calls_are_in_a_row():
	program = e2e.compiled("after_hidden.c")
	disturbed = False
	for attempt in range(5):
		trace = e2e.record(f"trace{attempt}", "-e", "sched,syscall,fault", "--buffer", "32M", command=(program, str(ROUNDS)))
		if trace.summary()["lost"]:
			continue
		expect_all_calls(trace)
		if disturbed := trace.disturbed():
			break
	if not disturbed:
		e2e.leave_out("a thread that follows a hidden one", "none did")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(all_calls_are_in_a_row)
