#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recorder that may itself use one CPU only, by taskset or a cpuset as containers have it, or that is served last (nice,
SCHED_IDLE), records all CPUs all the same (curt and perf users; services with CPUAffinity= or AllowedCPUs=)."""
import os
import pathlib

import e2e

CALLS = 700
CPUSET = pathlib.Path("/sys/fs/cgroup/cpuset")


def recorded(name, before, command_before=(), options=(), more=0):
	trace = e2e.Recorder(name, *options, before=before, command=(*command_before, "taskset", "-c", e2e.cpus()[0], e2e.workload, "getppid", CALLS))
	trace = trace.end(number=None)
	of_process = trace.rows("syscalls", call="getppid", process="workload")
	e2e.equal(f"{name}: calls", sum(row["count"] for row in of_process), CALLS + more)
	e2e.equal(f"{name}: CPUs", len(trace.rows("--by", "cpu")), os.cpu_count())
	trace.expect_sound()


def some_cpus():
	e2e.need_program("taskset")
	last = e2e.cpus()[-1]
	for name, options in (("one", ()), ("one_with_stacks", ("--stacks",))):
		recorded(name, ("taskset", "-c", last), options=options)


def served_last():
	e2e.need_program("chrt")
	recorded("nice", ("nice", "-n", "19"))
	recorded("idle", ("chrt", "-i", "0"), ("chrt", "-o", "0"))


def in_a_cpuset():
	group = CPUSET / f"monitor_test_{os.getpid()}"
	if not (CPUSET / "cpuset.mems").exists():
		e2e.skip("no hierarchy of cgroup 1 with cpuset is mounted")
	group.mkdir()
	try:
		(group / "cpuset.mems").write_text((CPUSET / "cpuset.mems").read_text().strip() or "0")
		(group / "cpuset.cpus").write_text(str(e2e.cpus()[-1]))
		into, out = ((("sh", "-c", f'echo $$ > {where}/cgroup.procs; exec "$@"', "sh")) for where in (group, CPUSET))
		for name, options in (("cpuset", ()), ("cpuset_with_stacks", ("--stacks",)), ("cpuset_with_samples", ("--sample-every", "9.7ms"))):
			recorded(name, into, out, options, more=1) # the shell asks, too, before it executes it
	finally:
		e2e.remove_cgroup(group)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(some_cpus, served_last, in_a_cpuset)
