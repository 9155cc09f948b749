#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whose group has the time, beside the kernel's cpu.stat: a child that is born in another group than its parent's
(datadog-agent pulls 47796 and 51174, lisa pull 440), a process that moves, also in a hierarchy of cgroup 1 (koordinator
issue 221, huatuo issue 603), and a group that is gone when the recording ends (garden issue 146)."""
import json
import os
import pathlib
import sys

import e2e
import view

MOVER = """
import os, sys, time
a, b, old, short = sys.argv[1:]
def compute(seconds):
	end = time.process_time() + seconds
	while time.process_time() < end:
		sum(range(1000))
def child(*parts):
	pid = os.fork()
	if pid == 0:
		for group, seconds in parts:
			if group:
				open(group + "/cgroup.procs", "w").write(str(os.getpid()))
			compute(seconds)
		os._exit(0)
	os.waitpid(pid, 0)
	return pid
mover = child((a, 0.2), (b, 0.1))
child((b, 0.05), (old, 0.1))
os.mkdir(short)
child((short, 0.1))
used = open(short + "/cpu.stat").readline().split()[1]
os.rmdir(short)
print(f"mover={mover} short_us={used}")
"""


def mount_of(kind, controller=None):
	for line in open("/proc/mounts", encoding="utf-8"):
		_, where, what, options, *_ = line.split()
		if what == kind and (not controller or controller in options.split(",")):
			return where
	return None


def used_s(group):
	return int((group / "cpu.stat").read_text().split()[1]) / 1e6


class Groups:
	"""Groups of cgroup 2 during the `with`, and what each used in it."""

	def __init__(self, *names):
		root = mount_of("cgroup2")
		if not root:
			e2e.skip("no cgroup2 is mounted")
		self.groups = [pathlib.Path(root) / name for name in names]

	def __enter__(self):
		for group in self.groups:
			group.mkdir(exist_ok=True)
		self.before = [used_s(group) for group in self.groups]
		return self.groups

	def used(self):
		return [used_s(group) - before for group, before in zip(self.groups, self.before)]

	def __exit__(self, *unused):
		for group in reversed(self.groups):
			group.rmdir()


def seconds(trace, *options):
	"""CPU time by cgroup."""
	return {row["cgroup"]: row["cpu_ns"] / 1e9 for row in trace.rows("--by", "cgroup", *options) if row["cpu_ns"]}


def expect_near(what, found, kernel, slack=0.012):
	e2e.expect(abs(found - kernel) <= 0.04 * kernel + slack, f"{what}: {found:.3f} s, by cpu.stat {kernel:.3f} s")


def expect_in_view(trace):
	"""The picture's groups have what the report has."""
	page = e2e.work / "picture.html"
	e2e.run(e2e.monitor, "view", "--no-cache", "-o", page, trace.directory)
	about = view.embedded(page.read_text())["about"]
	drawn = {group["name"]: group["ran"] / about["frequency_hz"] for group in about["groups"]["cgroup"] if group["ran"]}
	found = seconds(trace, "--top", "0")
	e2e.expect(drawn.keys() == found.keys() and all(abs(drawn[name] - found[name]) < 1e-6 for name in found), f"groups of the picture: {drawn}, report has {found}")


def born_inside():
	program = e2e.compiled("clone_into_cgroup.c")
	groups = Groups("monitor-born", "monitor-born/inner")
	for name, options in (("born", ()), ("born_statistics", ("--statistics", "1s"))):
		with groups as (_, inner):
			trace = e2e.record(name, *options, command=(program, inner))
			used = groups.used()[1]
		expect_near(f"{name}: a group that children are born in", seconds(trace).get("/monitor-born/inner", 0), used)
		rows = trace.rows("--cgroup", "/monitor-born/inner")
		expect_near(f"{name}: --cgroup", sum(row["cpu_ns"] for row in rows) / 1e9, used)
		if not options:
			e2e.equal("its processes", sorted(row["process"] for row in rows), ["born_inside", "grandchild"])
			trace.expect_sound()


def moves():
	old = mount_of("cgroup", "cpu") or mount_of("cgroup")
	in_old = pathlib.Path(old) / "monitor-old" if old else None
	if not in_old:
		e2e.leave_out("a move in a hierarchy of cgroup 1", "none is mounted")
	groups = Groups("monitor-a", "monitor-b")
	short = groups.groups[0].parent / "monitor-short"
	for name, options in (("moves", ("-m", "clock=cpu-clock")), ("moves_statistics", ("--statistics", "1s"))):
		if in_old:
			in_old.mkdir(exist_ok=True)
		with groups as (a, b):
			trace = e2e.record(name, *options, command=(sys.executable, "-c", MOVER, a, b, in_old or "", short))
			used = groups.used()
		if in_old:
			in_old.rmdir()
		told = e2e.values(trace.output)
		found = seconds(trace)
		expect_near(f"{name}: the group that it left", found.get("/monitor-a", 0), used[0])
		expect_near(f"{name}: the group that it moved to", found.get("/monitor-b", 0), used[1])
		expect_near(f"{name}: a group that is gone", found.get("/monitor-short", 0), told["short_us"] / 1e6)
		if not options or "-m" in options:
			expect_in_view(trace)
		expect_near(f"{name}: --cgroup of the group that it left", sum(seconds(trace, "--cgroup", "/monitor-a").values()), used[0])
		if "-m" in options:
			counted = {row["cgroup"]: row["clock"] / 1e9 for row in trace.report("ratios", "--by", "cgroup")["rows"] if row["clock"]}
			expect_near("what was counted in the group that it left", counted.get("/monitor-a", 0), used[0])
			expect_near("what was counted in the group that it moved to", counted.get("/monitor-b", 0), used[1])
			pid = told["mover"]
			whole = sum(row["cpu_ns"] for row in trace.rows(pid=pid)) / 1e9
			e2e.expect(abs(whole - 0.3) < 0.03, f"all of the process that moved: {whole:.3f} s, not 0.3 s")
			events = trace.events("--cgroup", "/monitor-a", "--event", "sched_switch", "--tid", pid)
			everywhere = trace.events("--event", "sched_switch", "--tid", pid)
			e2e.expect(0 < len(events) < len(everywhere), "list --cgroup: its events while it was there")
			trace.expect_sound()


def states():
	"""Of a thread that moved, both groups select the states that were recorded."""
	groups = Groups("monitor-a", "monitor-b")
	with groups as (a, b):
		trace = e2e.record("states", "--states", "thread", command=(sys.executable, "-c", MOVER, a, b, "", groups.groups[0].parent / "monitor-short"))
	pid = e2e.values(trace.output)["mover"]
	for cgroup in ("/monitor-a", "/monitor-b"):
		rows = json.loads(e2e.run(e2e.monitor, "states", "--json", trace.directory, "--each", "--cgroup", cgroup).stdout)
		e2e.expect(any(row["thread"].endswith(f"-{pid}") for row in rows), f"states --cgroup {cgroup}: {rows}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(born_inside, moves, states)
