#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Thousands of processes that live less than a millisecond: none is missed, none is without a name, and each has its calls
(bcc issue 1250, lightswitch issue 324, trace-cmd's <...>, fatrace issue 52); also beside perf and another recorder."""
import re
import shutil
import signal
import subprocess

import e2e

WAYS = (("-p", "cmd"), ("--statistics", "1s"), ("--stacks=cpu,offcpu", "-p", "cmd"), ("-p", "cmd", "--count", 'n=name=="sched_process_exec"'))


def expect_all(trace):
	lost = trace.summary()["lost"]
	e2e.expect(not lost, f"{trace.directory.name}: {lost} tokens are lost")
	(names,) = trace.query("SELECT count(*) AS n, count(DISTINCT name) AS names FROM threads WHERE name GLOB 'kid[0-3]_*'")
	e2e.equal("processes and names", (names["n"], names["names"]), (2000, 2000))
	(calls,) = trace.query("SELECT count(*) AS n FROM sys_enter WHERE id_label = 'getppid' AND thread GLOB 'kid*'")
	e2e.equal("their calls", calls["n"], 6000)
	trace.expect_true()


def alone():
	program = e2e.compiled("fork_storm.c")
	trace = e2e.record("alone", "-p", "cmd", command=(program,))
	expect_all(trace)
	commands = [row for row in trace.rows("--by", "command", "--top", "0") if re.match(r"kid\d_", row["command"])]
	e2e.equal("rows by command", len(commands), 2000)


def beside_others():
	if not shutil.which("perf"):
		e2e.leave_out("beside_others", "perf is not installed")
		return
	program, data = e2e.compiled("fork_storm.c"), e2e.work / "perf.data"
	perf = subprocess.Popen(["perf", "record", "-a", "-q", "-m", "4M", "-o", data, "-e", "raw_syscalls:sys_enter", "--filter", "id == 110"], stderr=subprocess.DEVNULL)
	try:
		second = e2e.Recorder("second", "-e", "syscall", "--filter", 'name == "sys_enter" and id == "getppid" and thread ~ "kid*"').wait_until_recording()
		trace = e2e.record("first", "-p", "cmd", command=(program,))
		second = second.end()
	finally:
		perf.send_signal(signal.SIGINT)
		perf.wait()
	expect_all(trace)
	e2e.equal("their calls, by another recorder", len(second.events("--event", "sys_enter")), 6000)
	second.expect_true()
	lines = e2e.run("perf", "script", "-i", data, "-F", "comm,event,trace").stdout.splitlines()
	e2e.equal("their calls, by perf", sum(bool(re.match(r"\s*kid\d_\d+ .*sys_enter: NR 110 ", line)) for line in lines), 6000)


def in_each_way():
	"""Storms of forks and execs in each way to record: each process is there, or its loss is counted."""
	program = e2e.compiled("fork_storm.c")
	for number, options in enumerate(((), *WAYS)):
		trace = e2e.record(f"way{number}", *options, command=("sh", "-c", f"{program} > /dev/null; for i in $(seq 500); do /bin/true; done"))
		trace.expect_true()
		if "--statistics" in options:
			continue
		lost = trace.summary()["lost"]
		execs = len(trace.events("--event", "sched_process_exec"))
		born = len(trace.events("--event", "sched_wakeup_new"))
		e2e.expect(lost or born >= 2500 and execs >= 500, f"{options}: {born} created, {execs} executed, {lost} lost")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(alone, beside_others, in_each_way)
