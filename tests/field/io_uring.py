#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Threads that the kernel makes for a program's io_uring are threads of that program, and never in user mode (liburing
issues 1399, 846 and 1568)."""
import e2e


def threads_of_the_kernel():
	program = e2e.compiled("io_uring.c")
	if e2e.run(program, exit_code=None).returncode == 77:
		e2e.skip("this kernel has no io_uring")
	trace = e2e.record("rings", "-p", "cmd", command=(program,))
	told = e2e.values(trace.output)
	(process,) = trace.rows(pid=told["pid"])
	e2e.near("CPU time of the process (ns)", process["cpu_ns"], told["cpu_ns"], part=0.05, slack=1e7)
	threads = trace.rows("--by", "thread", "--pid", told["pid"])
	pollers = [row for row in threads if row["thread"].startswith("iou-sqp-")]
	workers = [row for row in threads if row["thread"].startswith("iou-wrk-")]
	e2e.expect(len(pollers) == 1 and workers, f"threads: {[row['thread'] for row in threads]}")
	e2e.near("CPU time of the kernel's threads (ns)", sum(row["cpu_ns"] for row in pollers + workers), told["cpu_ns"] - told["own_ns"], part=0.05, slack=1e7)
	for row in pollers + workers:
		e2e.expect((row["user_percent"] or 0) < 0.5, f"in user mode: {row}")
	e2e.expect(pollers[0]["kernel_percent"] > 50, f"not in the kernel: {pollers[0]}")
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(threads_of_the_kernel)
