#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recorder that is stopped for more than a second, by a signal or by the freezer of its group: it ends as it should, what
was lost meanwhile is counted, and a true recording passes its check; a snapshot that is asked for meanwhile comes after."""
import os
import signal
import subprocess
import time

import e2e

SECONDS = 1.2


class Work:
	"""getppid on every CPU during the `with`."""

	def __enter__(self):
		self.load = e2e.getppid_on_every_cpu()
		return self

	def __exit__(self, *unused):
		self.load.__exit__()


def held(name, hold, release, *options):
	recorder = e2e.Recorder(name, *options)
	if "--statistics" in options:
		while not list(recorder.directory.glob("statistics_*")) and recorder.process.poll() is None:
			time.sleep(0.05)
	else:
		recorder.wait_until_recording()
	with Work():
		time.sleep(0.3)
		hold(recorder.process.pid)
		time.sleep(SECONDS)
		release(recorder.process.pid)
		time.sleep(0.3)
	trace = recorder.end()
	trace.expect_true(but={"clock"})
	return trace


def stopped():
	for name, *options in (("plain", "--buffer", "2M"), ("statistics", "--statistics", "1s"), ("only_counts", "--statistics", "1s", "--count-only"),
	                       ("stacks", "--buffer", "2M", "--stacks"), ("samples", "--buffer", "2M", "--sample-every", "5ms")):
		trace = held(name, lambda pid: os.kill(pid, signal.SIGSTOP), lambda pid: os.kill(pid, signal.SIGCONT), *options)
		if "2M" in options:
			e2e.expect(trace.summary()["lost"] > 1000, f"{name}: two MB held all of {SECONDS} s: {trace.summary()}")


def frozen():
	mounts = [line.split() for line in open("/proc/mounts", encoding="utf-8")]
	groups = [e2e.pathlib.Path(where) / "monitor-recorder" for _, where, kind, *_ in mounts if kind == "cgroup2"]
	if not groups:
		e2e.skip("no cgroup2 is mounted")
	group = groups[0]
	group.mkdir(exist_ok=True)

	def freeze(pid):
		(group / "cgroup.procs").write_text(str(pid))
		(group / "cgroup.freeze").write_text("1")

	try:
		held("frozen", freeze, lambda pid: (group / "cgroup.freeze").write_text("0"), "--buffer", "2M")
	finally:
		group.rmdir()


def snapshot():
	recorder = e2e.Recorder("flight", "--flight=16M")
	until = time.monotonic() + 60
	while not (recorder.directory / ".monitor" / "flight.json").exists() and time.monotonic() < until:
		time.sleep(0.05)
	time.sleep(1)
	recorder.send(signal.SIGSTOP)
	asked = subprocess.Popen([e2e.monitor, "snapshot", recorder.directory], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
	time.sleep(SECONDS)
	e2e.equal("the snapshot of a recorder that stands still", asked.poll(), None)
	recorder.send(signal.SIGCONT)
	said = asked.communicate(timeout=60)[0]
	e2e.expect(asked.returncode == 0, f"the snapshot afterwards: {asked.returncode}: {said}")
	recorder.end()
	e2e.Trace(recorder.directory / "001").expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(stopped, frozen, snapshot)
