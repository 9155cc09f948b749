#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that is stopped by a signal, then frozen by its cgroup, is blocked all that time, and what ended it is known:
neither is running, nor waiting for a CPU (catapult issue 4624, runc issue 2753, criu pull 1905)."""
import sys

import e2e

CONTROL = """
import os, signal, subprocess, sys, time
group = sys.argv[1]
loop = subprocess.Popen([sys.executable, "-c", "import time\\nprint('ready', flush=True)\\nwhile True: pass"], stdout=subprocess.PIPE)
loop.stdout.readline()
def cpu_ns():
	return int(open(f"/proc/{loop.pid}/schedstat").read().split()[0])
def held(begin, is_held, end):
	time.sleep(0.2)
	begin()
	while not is_held():
		time.sleep(0.001)
	start = time.monotonic()
	time.sleep(0.4)
	end()
	return time.monotonic() - start
def freeze(how):
	open(group + "/cgroup.freeze", "w").write(how)
def is_stopped():
	return open(f"/proc/{loop.pid}/stat").read().split()[2] == "T"
def is_frozen():
	return "frozen 1" in open(group + "/cgroup.events").read()
off = held(lambda: loop.send_signal(signal.SIGSTOP), is_stopped, lambda: loop.send_signal(signal.SIGCONT))
if group:
	open(group + "/cgroup.procs", "w").write(str(loop.pid))
	off += held(lambda: freeze("1"), is_frozen, lambda: freeze("0"))
time.sleep(0.2)
print(f"pid={loop.pid} control={os.getpid()} cpu_ns={cpu_ns()} off_ns={off * 1e9:.0f}")
loop.kill()
loop.wait()
"""


def own_group():
	for line in open("/proc/mounts", encoding="utf-8"):
		_, where, kind, *_ = line.split()
		if kind == "cgroup2":
			return e2e.pathlib.Path(where) / "monitor-frozen"
	return e2e.leave_out("frozen", "no cgroup2 is mounted")


def blocked():
	group = own_group()
	if group:
		group.mkdir(exist_ok=True)
	try:
		trace = e2e.record("blocked", "-p", "cmd", command=(sys.executable, "-c", CONTROL, group or ""))
	finally:
		if group:
			group.rmdir()
	told = e2e.values(trace.output)
	(row,) = trace.rows(pid=told["pid"])
	e2e.near("CPU time (ns)", row["cpu_ns"], told["cpu_ns"], part=0.05, slack=2e7)
	# A loop sleeps at no other time, but while its program is loaded.
	asleep = [row for row in trace.rows("offcpu", tid=told["pid"]) if row["total_ns"] > 1e8 and row["waker"]]
	e2e.equal("sleeps", sum(row["count"] for row in asleep), 2 if group else 1)
	e2e.near("asleep (ns)", sum(row["total_ns"] for row in asleep), told["off_ns"], part=0.08, slack=5e7)
	e2e.equal("in which call", {row["call"] for row in asleep} - {None, "-", ""}, {"stopped"})
	e2e.equal("ended by", {row["waker"].rsplit("-", 1)[1] for row in asleep}, {str(told["control"])})
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(blocked)
