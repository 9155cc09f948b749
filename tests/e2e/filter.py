#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""-p: only the selected processes and their descendants have tokens besides their switches; whatever else runs is
`other` in the report. Nothing of what was selected is missing."""
import subprocess
import time

import e2e


def expect_only(trace, selected, what):
	"""Whoever posted a token of these families was selected. Returns the events."""
	names = "sys_enter,sys_exit,page_fault_user,page_fault_kernel,minor_fault,sched_process_exit"
	events = trace.events("--event", names)
	strangers = {event["pid"] for event in events} - selected
	e2e.expect(not strangers, f"{what}: tokens of {sorted(map(str, strangers))}, which nobody selected")
	return events


def expect_other(trace):
	rows = trace.rows("--by", "process")
	other = [row for row in rows if row["process"] == "other"]
	e2e.equal("rows named other", len(other), 1)
	e2e.expect(other and other[0]["cpu_ns"] > 50_000_000, f"another process ran all the time, but other is {other}")
	return [row for row in rows if row["process"] != "other"]


def command_tree():
	with e2e.Load((e2e.workload, "getppid", 1 << 50)):
		script = f"{e2e.workload} getppid 5000; {e2e.workload} forks 50; exec {e2e.workload} nap 100"
		command = ("sh", "-c", script)
		trace = e2e.undisturbed(lambda: e2e.record("cmd", "--force", "-p", "cmd", command=command),
		                        lambda trace: trace.family({trace.recording()["command_pid"]}))
	trace.expect_true()
	pid = trace.recording()["command_pid"]
	family = trace.family({pid})
	events = expect_only(trace, family, "-p cmd")
	calls = [event["fields"]["id"] for event in events if event["event"] == "sys_enter"]
	calls_of_getppid = calls.count("getppid")  # a shell may add one
	e2e.expect(calls_of_getppid in (5000, 5001), f"{calls_of_getppid} calls of getppid, not 5000")
	e2e.equal("nanosleep calls", calls.count("nanosleep"), 100)
	e2e.expect(len(family) >= 52, f"the tree has {len(family)} processes, not 53")
	ended = {event["fields"]["pid"] for event in events if event["event"] == "sched_process_exit"}
	e2e.equal("ends", ended, family)
	strangers = [(row["process"], row["pid"]) for row in expect_other(trace) if row["pid"] not in family]
	e2e.expect(not strangers, f"rows that belong to `other`: {strangers}")
	unmarked = [row["pid"] for row in trace.rows("--top", 0) if row["pid"] in family and not row["recorded"]]
	e2e.expect(not unmarked, f"rows of the tree without a mark: {unmarked}")


def programs_of_threads():
	"""Each started by a thread that is not the first of its process, whose number it takes over with the program."""
	trace = e2e.undisturbed(lambda: e2e.record("programs", "--force", "-p", "cmd", command=(e2e.workload, "exec_chain", 50)),
	                        lambda trace: {trace.recording()["command_pid"]})
	trace.expect_true()
	pid = trace.recording()["command_pid"]
	started = [event["fields"]["pid"] for event in trace.events("--event", "sched_process_exec")]
	e2e.equal("programs", started, [pid] * 51)
	named = [event for event in trace.events("--event", "task_rename") if event["fields"]["newcomm"] == "workload"]
	e2e.equal("names", len(named), 51)
	calls = [event["fields"]["id"] for event in trace.events("--event", "sys_enter", "--tid", pid)]
	e2e.equal("calls of getpgid", calls.count("getpgid"), 51 * 100)


def running_process():
	"""Its children, those there are and those to come, too."""
	script = f"{e2e.workload} family 100 & {e2e.workload} family 100"
	with subprocess.Popen(["sh", "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as shell:
		children, deadline = set(), time.monotonic() + 10
		while len(children) < 2 and time.monotonic() < deadline:
			time.sleep(0.1)
			children = {int(number) for number in
			            open(f"/proc/{shell.pid}/task/{shell.pid}/children", encoding="ascii").read().split()}
		try:
			with e2e.Load((e2e.workload, "getppid", 1 << 50)):
				trace = e2e.undisturbed(lambda: e2e.record("pid", "--force", "-p", shell.pid, "-d", 1),
				                        lambda trace: trace.family({shell.pid} | children))
		finally:
			for child in children:
				subprocess.run(["kill", "-KILL", str(child)], check=False)
			shell.kill()
	trace.expect_true()
	e2e.equal("children", len(children), 2)
	family = trace.family({shell.pid} | children)
	events = trace.events("--event", "sys_enter")
	for child in children:
		e2e.expect(any(event["pid"] == child for event in events), f"the child {child} has no system call")
	grandchildren = {event["pid"] for event in events} - children - {shell.pid}
	e2e.expect(len(grandchildren) > 5, f"{len(grandchildren)} grandchildren called, up to 100 are born each second")
	calls = sum(event["fields"]["id"] == "getppid" for event in events)
	e2e.expect(calls >= 100 * (len(grandchildren) - 3), f"{len(grandchildren)} grandchildren, {calls} calls of getppid")
	# those that lived at the start may be selected without a token of their creation
	strangers = {event["pid"] for event in events} - family
	e2e.expect(len(strangers) <= 2, f"-p PID: tokens of {sorted(map(str, strangers))}, which nobody selected")
	expect_other(trace)


def two_processes():
	nap = (e2e.workload, "nap", 1 << 50)
	with e2e.Load((e2e.workload, "getppid", 1 << 50), nap, nap) as load:
		_, one, two = (process.pid for process in load.processes)
		options = ("--force", "-p", f"{one},{two}", "-d", 0.5, "-e", "syscall")
		trace = e2e.undisturbed(lambda: e2e.record("two", *options), lambda trace: {one, two})
	trace.expect_true()
	expect_only(trace, {one, two}, "-p ONE,TWO")
	for pid in (one, two):
		e2e.expect(len(trace.events("--pid", pid, "--event", "sys_enter")) > 10, f"{pid} has no system calls")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(command_tree, programs_of_threads, running_process, two_processes)
