#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many and changing threads: 2,000 short-lived processes, 500 threads at once, threads that rename themselves, programs
started by a thread that is not the leader. `check` passes, and none is forgotten."""
import e2e


def two_thousand_processes():
	trace = e2e.record_workload("swarm", "swarm", 2000)
	trace.expect_true()
	parent = trace.values["pid"]
	born = [e["fields"] for e in trace.events("--event", "sched_wakeup_new") if e["fields"]["parent_pid"] == parent]
	e2e.equal("children born", len(born), 2000)
	tgids = {child["tgid"] for child in born}
	ended = {e["fields"]["pid"] for e in trace.events("--event", "sched_process_exit")}
	e2e.expect(tgids <= ended, f"{len(tgids - ended)} children have no end")
	e2e.equal("rows of the report", sum(row["recorded"] for row in trace.rows("--top", 0)), len(tgids) + 1)


def five_hundred_threads():
	trace = e2e.record_workload("threads", "threads", 500)
	trace.expect_true()
	leader = trace.values["pid"]
	own = {e["fields"]["pid"] for e in trace.events("--event", "sched_wakeup_new") if e["fields"]["tgid"] == leader}
	e2e.equal("threads born", len(own), 500)
	rows = {row["tid"] for row in trace.rows("--by", "thread", "--top", 0, recorded=True)}
	e2e.equal("threads in the report", len(rows & own), 500)
	(process,) = trace.rows(pid=leader)
	e2e.expect(process["recorded"] and process["process"] == "workload", f"the process's row: {process}")


def renamed():
	trace = e2e.record_workload("rename", "rename", 5)
	trace.expect_true()
	rows = trace.rows("--by", "thread")
	for number in range(5):
		tid = trace.values[f"tid{number}"]
		names = [row["thread"] for row in rows if row["tid"] == tid]
		e2e.equal(f"name of thread {tid}", names, [f"renamed-{number}"])
	(process,) = trace.rows(pid=trace.values["pid"])
	e2e.equal("name of the process", process["process"], "workload")
	last = trace.values["tid4"]
	listed = [e for e in trace.events("--tid", last) if e["pid"] == last and e["event"] == "sched_process_exit"]
	e2e.equal("name in the list", [e["comm"] for e in listed], ["renamed-4"])


def exec_by_another_thread():
	trace = e2e.record_workload("exec", "exec_thread", 3000)
	trace.expect_true()
	old, leader = trace.values["old_tid"], trace.values["pid"]
	e2e.expect(old != leader, "the thread was the leader")
	execs = [e["fields"] for e in trace.events("--event", "sched_process_exec") if e["fields"]["pid"] == leader]
	e2e.expect(old in [fields["old_pid"] for fields in execs], f"no exec from {old} to {leader}: {execs}")
	calls = [e for e in trace.events("--tid", leader, "--event", "sys_enter")
	         if e["pid"] == leader and e["fields"]["id"] == "getppid"]
	e2e.equal("system calls after the exec", len(calls), 3000)
	rows = trace.rows("--by", "thread", tid=leader)
	e2e.expect(sum(row["recorded"] and row["syscalls"] >= 3000 for row in rows) == 1, f"the leader's rows: {rows}")
	(process,) = trace.rows(pid=leader)
	e2e.expect(process["recorded"] and process["syscalls"] >= 3000, f"the process's row: {process}")


def execs_by_threads():
	"""Threads start programs while others of their process run, the first one too: its figures are not another's."""
	trace = e2e.record_workload("execs", "exec_chain", 50)
	trace.expect_true()
	pid = trace.values["pid"]
	execs = [e for e in trace.events("--event", "sched_process_exec") if e["fields"]["pid"] == pid]
	e2e.equal("programs", len(execs), 51)
	calls = [e for e in trace.events("--event", "sys_enter", "--tid", pid) if e["fields"]["id"] == "getpgid"]
	e2e.equal("calls", len(calls), 51 * 100)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(two_thousand_processes, five_hundred_threads, renamed, exec_by_another_thread, execs_by_threads)
