#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Three processes that have the same number one after the other, two of them the same name: each keeps its own time and
calls (Firefox Profiler issue 3351, capa issue 1547, one-collect pull 303)."""
import e2e


def three_of_one_number():
	program = e2e.compiled("pid_reuse.c")
	trace = e2e.undisturbed(lambda: e2e.record("reuse", "--force", "-p", "cmd", command=(program,)),
	                        lambda trace: {e2e.values(trace.output)["pid"]})
	told = [(line.split()[0], e2e.values(line)) for line in trace.output.splitlines()]
	pid = told[0][1]["pid"]
	e2e.equal("numbers", {values["pid"] for _, values in told}, {pid})
	for (name, values), row in zip(sorted(told, key=lambda each: (each[0], each[1]["cpu_us"])),
	                               sorted(trace.rows(pid=pid), key=lambda row: (row["process"], row["cpu_ns"]))):
		e2e.equal("process", row["process"], name)
		e2e.near(f"CPU time of {name} (us)", row["cpu_ns"] / 1e3, values["cpu_us"], slack=8000)
	e2e.equal("--pid selects all three", len(trace.rows("--pid", pid)), 3)
	calls = sorted((row["process"], row["count"]) for row in trace.rows("syscalls", pid=pid, call="getppid"))
	e2e.equal("calls by process", calls, sorted((name, values["calls"]) for name, values in told))
	events = trace.query(f"SELECT thread, count(*) AS n FROM sys_enter WHERE tid = {pid} AND id_label = 'getppid' GROUP BY thread ORDER BY thread")
	e2e.equal("calls by the name at the time", [(row["thread"], row["n"]) for row in events], [("reuse_a", 111), ("reuse_b", 555)])
	(command,) = trace.rows("--by", "command", command="reuse_b")
	e2e.near("CPU time of a command, both processes (us)", command["cpu_ns"] / 1e3,
	         sum(values["cpu_us"] for name, values in told if name == "reuse_b"), slack=10000)
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(three_of_one_number)
