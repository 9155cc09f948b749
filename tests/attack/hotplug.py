#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A CPU goes offline and comes back: that is a state of the CPU, in nobody's time, and `check` neither takes it for lost
events nor hides what was not opened on a CPU that came later."""
import contextlib
import pathlib
import time

import e2e

CPU = e2e.cpus()[-1]
ONLINE = pathlib.Path("/sys/devices/system/cpu") / f"cpu{CPU}" / "online"


class Offline:
	"""The CPU during the `with`, and between which ns of the monotonic clock it was."""

	def __enter__(self):
		if len(e2e.cpus()) < 2 or not ONLINE.exists():
			e2e.skip("no CPU can be taken offline")
		before = time.monotonic_ns()
		try:
			ONLINE.write_text("0")
		except OSError as error:
			e2e.skip(f"the CPU stays online: {error}")
		self.earliest, self.latest = before, time.monotonic_ns()
		return self

	def __exit__(self, *unused):
		self.shortest = time.monotonic_ns() - self.latest
		ONLINE.write_text("1")
		self.longest = time.monotonic_ns() - self.earliest


def goes_and_comes():
	recorder = e2e.Recorder("hotplug").wait_until_recording()
	try:
		time.sleep(0.3)
		with Offline() as offline:
			time.sleep(0.6)
		time.sleep(0.3)
	finally:
		trace = recorder.end()
	trace.expect_true(but={"clock"})
	window_ns = trace.summary()["wall_ns"]
	row, = trace.rows("--by", "cpu", cpu=CPU)
	ns = row["offline_percent"] / 100 * window_ns
	e2e.expect(offline.shortest * 0.95 <= ns <= offline.longest * 1.05, f"offline for {ns} ns, not {offline.shortest} to {offline.longest}")
	used = sum(row["cpu_ns"] for row in trace.rows("--by", "thread") if row["thread"].startswith("migration/"))
	e2e.expect(used < 0.1 * offline.shortest, f"migration/{CPU} has {used} ns")
	states = e2e.run(e2e.monitor, "states", trace.directory, "--tree", "cpu").stdout
	e2e.expect("offline" in states, f"no state is offline: {states}")


def comes_later():
	with contextlib.ExitStack() as stack:
		with Offline():
			recorder = stack.enter_context(contextlib.closing(Later("late", "--stacks=cpu", "--sample-every", "5ms")))
			time.sleep(0.3)
		with e2e.Load(("taskset", "-c", CPU, e2e.workload, "getppid", 1 << 50)):
			time.sleep(0.5)
		trace = recorder.end()
	red = trace.check()
	e2e.expect("late_cpu" in red, f"red: {red}")
	said = next((each["text"] for each in trace.statements if each["id"] == "late_cpu"), "")
	e2e.expect(f"CPU {CPU} " in said and "samples" in said and "stacks by time" in said, said)
	e2e.expect("offline_percent" in trace.report("--by", "cpu")["rows"][CPU], "the time before is not offline")


class Later(e2e.Recorder):
	def __init__(self, name, *options):
		super().__init__(name, *options)
		self.wait_until_recording()

	def close(self):
		if self.process.poll() is None:
			self.process.kill()
			self.process.wait()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(goes_and_comes, comes_later)
