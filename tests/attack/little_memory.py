#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""In a cgroup with little memory: a recording ends with an error or can be read, and what it says of itself is true; what reads a
trace answers, says a sentence or is killed by the kernel. Never a hang."""
import os
import pathlib
import signal
import subprocess

import e2e

KILLED = -signal.SIGKILL


def groups():
	"""The file that limits a new group's memory, of cgroup 1 or 2; None: neither has a controller for it."""
	for line in open("/proc/mounts", encoding="utf-8"):
		_, where, kind, options, *_ = line.split()
		root = pathlib.Path(where)
		if kind == "cgroup" and "memory" in options.split(","):
			return root / "monitor-little", "memory.limit_in_bytes"
		if kind == "cgroup2" and "memory" in (root / "cgroup.subtree_control").read_text().split():
			return root / "monitor-little", "memory.max"
	return None, None


class Little:
	"""Runs commands with so much memory during the `with`."""

	def __init__(self, group, limit):
		self.group, self.limit = group, limit

	def __enter__(self):
		self.group.mkdir(exist_ok=True)
		return self

	def run(self, mb, *arguments):
		(self.group / self.limit).write_text(str(mb << 20))
		with open(e2e.work / "said", "w+", encoding="utf-8") as said:
			process = subprocess.Popen([e2e.monitor, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True,
			                           preexec_fn=lambda: (self.group / "cgroup.procs").write_text(str(os.getpid())))
			try:
				process.wait(120)
			except subprocess.TimeoutExpired:
				os.killpg(process.pid, signal.SIGKILL)
				process.wait()
				e2e.expect(False, f"{mb} MB: {arguments} hangs")
			said.seek(0)
			return process.returncode, said.read()

	def __exit__(self, *unused):
		self.group.rmdir()


def recordings(little):
	for mb in (200, 60, 24, 12):
		for number, options in enumerate(((), ("--stacks",), ("--statistics", "1s"), ("--flight=16M",), ("--states", "cpu"))):
			what = f"{mb} MB {options}"
			directory = e2e.work / f"little_{mb}_{number}"
			code, said = little.run(mb, "record", "--no-calibration", *options, "-o", directory, "-d", "1.2")
			e2e.expect(code in (0, KILLED) or said.startswith("monitor: ") or "\nmonitor: " in said, f"{what}: {code}: {said}")
			if not (directory / "metadata").exists():
				e2e.expect(code != 0 or "--flight=16M" in options, f"{what}: exit code 0, and no trace")
				continue
			checked = e2e.run(e2e.monitor, "check", directory, exit_code=None)
			if code == 0:
				e2e.expect(checked.returncode == 0, f"{what}: record is content, check is not: {[line for line in checked.stdout.splitlines() if 'FAILS' in line]}")
			else:
				e2e.expect(checked.returncode != 0 or "incomplete" in checked.stdout, f"{what}: record {code}, and check is content")


def readers(little):
	trace = e2e.record("read", "--no-calibration", "--stacks", command=(e2e.workload, "pingpong", 20000))
	for mb in (60, 16):
		for command in (("check",), ("report",), ("report", trace.directory, "stacks"), ("list",), ("stat",), ("view", "--no-cache", "-o", e2e.work / "page"),
		                ("convert", "--to", "perfetto", "-o", e2e.work / "perfetto")):
			arguments = command if trace.directory in command else (*command, trace.directory)
			code, said = little.run(mb, *arguments)
			e2e.expect(code in (0, 1, KILLED), f"{mb} MB: {command[0]}: {code}: {said}")


def memory():
	group, limit = groups()
	if not group:
		e2e.skip("no controller of memory for cgroups is here")
	with Little(group, limit) as little:
		recordings(little)
		readers(little)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(memory)
