#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A CPU goes offline and comes back, as all but one do when a machine sleeps: that is a state of the CPU, in nobody's time, and
`check` does not take it for lost events. The kernel ends what was opened for the CPU: it is opened again."""
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


def expect_opened(trace, tid):
	"""On the CPU, where only this thread has faults since: all that began are completed."""
	on_cpu = f"cpu == {CPU} and tid == {tid}"
	began = len(trace.events("--event", "page_fault_user", "--filter", on_cpu))
	completed = sum(len(trace.events("--event", kind, "--filter", on_cpu + " and user == 1")) for kind in ("minor_fault", "major_fault"))
	e2e.expect(began >= 2000, f"{began} faults began")
	e2e.equal("completed faults of those that began", completed, began)


def goes_and_comes():
	recorder = e2e.Recorder("hotplug").wait_until_recording()
	try:
		time.sleep(0.3)
		with Offline() as offline:
			time.sleep(0.6)
		time.sleep(0.3)
		done = e2e.values(e2e.run("taskset", "-c", CPU, e2e.workload, "touch", 2000).stdout)
	finally:
		trace = recorder.end()
	trace.expect_true(but={"clock"})
	expect_said(trace)
	expect_opened(trace, done["pid"])
	window_ns = trace.summary()["wall_ns"]
	row, = trace.rows("--by", "cpu", cpu=CPU)
	ns = row["offline_percent"] / 100 * window_ns
	e2e.expect(offline.shortest * 0.95 <= ns <= offline.longest * 1.05, f"offline for {ns} ns, not {offline.shortest} to {offline.longest}")
	used = sum(row["cpu_ns"] for row in trace.rows("--by", "thread") if row["thread"].startswith("migration/"))
	e2e.expect(used < 0.1 * offline.shortest, f"migration/{CPU} has {used} ns")
	states = e2e.run(e2e.monitor, "states", trace.directory, "--tree", "cpu").stdout
	e2e.expect("offline" in states, f"no state is offline: {states}")


def expect_said(trace):
	said = next((each["text"] for each in trace.statements if each["id"] == "late_cpu"), "")
	e2e.expect(f"CPU {CPU} " in said and said.endswith("opened there, too"), f"late_cpu: {said or 'nothing'}")


def comes_later():
	with contextlib.ExitStack() as stack:
		with Offline():
			recorder = stack.enter_context(contextlib.closing(Later("late", "--stacks=cpu", "--sample-every", "5ms")))
			time.sleep(0.3)
		time.sleep(0.3)
		done = e2e.values(e2e.run("taskset", "-c", CPU, e2e.workload, "touch", 2000).stdout)
		with e2e.Load(("taskset", "-c", CPU, e2e.workload, "getppid", 1 << 50)):
			time.sleep(0.5)
		trace = recorder.end()
	trace.expect_true(but={"clock"})
	expect_said(trace)
	expect_opened(trace, done["pid"])
	e2e.expect("offline_percent" in trace.report("--by", "cpu")["rows"][int(CPU)], "the time before is not offline")
	# Both CPUs answer the same samples, in step; the stacks are of a program that the CPU started.
	other, late = ({each["fields"]["number"] for each in trace.events("--event", "sample", "--filter", f"cpu == {cpu}")}
	               for cpu in (e2e.cpus()[0], CPU))
	e2e.expect(len(late) > 50 and len(late - other) < 0.1 * len(late), f"{len(late - other)} of {len(late)} samples are of one CPU")
	stacks = trace.events("--event", "stack_sample", "--filter", f"cpu == {CPU}")
	e2e.expect(len(stacks) > 50, f"{len(stacks)} stacks are of the CPU")


def counters():
	"""They end with the CPU: what they would have counted since is unknown, and nothing is false."""
	with contextlib.closing(Later("counters", "-m", "faults=page-faults")) as recorder:
		time.sleep(0.3)
		with Offline():
			time.sleep(0.6)
		time.sleep(0.3)
		e2e.run("taskset", "-c", CPU, e2e.workload, "touch", 2000)
		trace = recorder.end()
	trace.expect_true(but={"clock"})
	said = [each for each in trace.statements if each["id"] == "late_cpu" and each["verdict"] == "not witnessed"]
	e2e.expect(any(f"CPU {CPU} " in each["text"] and "counters" in each["text"] for each in said), f"check says nothing of the counters: {said}")
	e2e.equal("CPUs without counters", trace.report("ratios").get("uncounted_cpus"), [int(CPU)])
	text = e2e.run(e2e.reader, "report", trace.directory, "ratios").stdout
	e2e.expect(f"unknown: what ran on CPU {CPU} since" in text, f"the report does not say it: {text[-500:]}")


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
	e2e.main(goes_and_comes, comes_later, counters)
