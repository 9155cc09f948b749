#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A process whose first thread has ended while another works: it is still one process, also where it was such a zombie
before the recording (opentelemetry-ebpf-profiler pull 376, extrace issue 7). Its working thread's id is none of a process,
and that is said (bcc issue 2873)."""
import os
import subprocess

import e2e


def from_its_start():
	trace = e2e.record("whole", "-p", "cmd", command=(e2e.compiled("dead_leader.c", "-pthread"), 1))
	told = e2e.values(trace.output)
	rows = trace.rows(pid=told["pid"])
	e2e.equal("rows of the process", len(rows), 1)
	e2e.near("its CPU time (ns)", rows[0]["cpu_ns"], told["cpu_ns"], slack=1e7)
	(worker,) = trace.rows("--by", "thread", tid=told["tid"])
	e2e.equal("the other thread's name", worker["thread"], "worker")
	e2e.near("the other thread's CPU time (ns)", worker["cpu_ns"], told["cpu_ns"], slack=1e7)
	trace.expect_true()


def a_zombie_before():
	program = e2e.compiled("dead_leader.c", "-pthread")
	with subprocess.Popen([program, "60"], stdout=subprocess.PIPE, text=True) as process:
		told = e2e.values(process.stdout.readline())
		stat = e2e.pathlib.Path(f"/proc/{told['pid']}/task/{told['pid']}/stat")
		while stat.read_text().rsplit(")", 1)[1].split()[0] != "Z":
			os.sched_yield()

		def cpu_ns():
			return int(e2e.pathlib.Path(f"/proc/{told['pid']}/task/{told['tid']}/schedstat").read_text().split()[0])

		before = cpu_ns()
		recorder = e2e.Recorder("part", "-p", told["pid"])
		recorder.wait_until_recording()
		first = cpu_ns()
		e2e.time.sleep(1.5)
		last = cpu_ns()
		trace = recorder.end()
		after = cpu_ns()
		rows = trace.rows(pid=told["pid"])
		e2e.equal("rows of the process", len(rows), 1)
		e2e.expect(last - first - 1e7 <= rows[0]["cpu_ns"] <= after - before + 1e7,
		           f"CPU time {rows[0]['cpu_ns']} ns, by the kernel {last - first} to {after - before} ns")
		e2e.expect(rows[0]["blocked_ns"] > 0 and rows[0]["syscalls"] > 5, f"its sleeps are there: {rows[0]}")
		trace.expect_true()
		refused = e2e.record("by_thread", "-p", told["tid"], "-d", 1, exit_code=None)
		e2e.expect(f"thread of process {told['pid']}" in refused.errors and not refused.directory.exists(), refused.errors)
		process.kill()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(from_its_start, a_zombie_before)
