#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Losses are exact: with a tiny buffer, and with a recorder that stands still, every event is a token or a counted
loss; babeltrace2 finds the same losses in the streams; a report says how much time is unknown because of them."""
import os
import pathlib
import re
import signal
import shutil
import tempfile
import time

import e2e

# of babeltrace2's warnings: Tracer discarded 123 events between ...
DISCARDED = re.compile(r"[Dd]iscarded (\d+) events?")
CHECKS = {"conservation", "losses_placed", "losses", "streams", "misses", "complete", "clock"}


def expect_exact_losses(trace, compare=False):
	trace.expect_true()
	verdicts = {statement["id"]: statement["verdict"] for statement in trace.statements}
	for name in CHECKS:
		e2e.equal(f"check: {name}", verdicts.get(name), "ok")
	recording = trace.recording()
	refused = sum(row["refused"] for row in recording["classes"])
	too_deep = sum(row["too_deep"] for row in recording["classes"])
	seen = sum(row["seen"] for row in recording["classes"])
	summary = trace.summary()
	e2e.expect(refused > 0, "nothing was lost, so nothing is shown here")
	e2e.equal("lost by info", summary["lost"], refused + too_deep)
	tokens = sum(row["tokens"] for row in trace.info()["classes"] if row["id"] >= 256)
	e2e.equal("seen = tokens + lost", seen, tokens + refused + too_deep)
	report = trace.report("--by", "cpu")
	unknown = sum(row["unknown_percent"] for row in report["cpus"])
	e2e.expect(unknown > 0, "tokens were lost, but no CPU time is unknown")
	text = e2e.run(e2e.monitor, "report", trace.directory).stdout
	e2e.expect("of the events were lost" in text.split("CPU%")[0], "a report does not begin with its great loss")
	e2e.expect(0 < summary["clock_bound_ns"] < 1_000_000, f"a clock bound of {summary['clock_bound_ns']} ns")
	if compare and not shutil.which("babeltrace2"):
		e2e.leave_out("losses by babeltrace2", "it is not installed")
	elif compare:
		errors = e2e.run("babeltrace2", trace.directory).stderr
		theirs = sum(map(int, DISCARDED.findall(errors)))
		e2e.equal("discarded events by babeltrace2", theirs, refused)
	print(f"{trace.directory.name}: {seen} seen = {tokens} tokens + {refused} discarded + {too_deep} too deep; "
	      f"{unknown:.1f} % of CPU time unknown")


def run_time_ns(pid):
	return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def expect_bound(trace, load, before):
	"""Of a load whose every second token is missing a report knows at least what the kernel counted."""
	for process in load.processes:
		row = trace.rows(pid=process.pid)[0]
		most = run_time_ns(process.pid) - before[process.pid]
		e2e.expect(row["cpu_ns"] <= row["cpu_bound_ns"] <= most,
		           f"CPU time {row['cpu_ns']}, at most {row['cpu_bound_ns']}; the kernel counted {most}")
		e2e.expect(row["cpu_bound_ns"] > 0.1 * most, f"a loop had a CPU for {row['cpu_bound_ns']} ns, by the kernel {most}")


@e2e.longer
def tiny_buffer():
	with e2e.getppid_on_every_cpu() as load:
		time.sleep(0.1)
		before = {process.pid: run_time_ns(process.pid) for process in load.processes}
		trace = e2e.record("tiny", "--buffer", "256k", "-d", 1)
		expect_bound(trace, load, before)
	expect_exact_losses(trace, compare=True)


def recorder_stopped():
	with e2e.getppid_on_every_cpu():
		# Of 8 MiB, so that they are full by then on a slow machine, too.
		recorder = e2e.Recorder("stopped", "-e", "sched,syscall", "--buffer", "8M").wait_until_recording()
		time.sleep(0.2)
		recorder.send(signal.SIGSTOP)
		time.sleep(2)
		recorder.send(signal.SIGCONT)
		time.sleep(0.3)
		trace = recorder.end()
	expect_exact_losses(trace)


LOAD_S, SLOWEST_LOOK_S = 0.5, 0.1  # the second: drain.cpp


def at_full_rate(directory, idle_s, *options):
	"""Records the load from its first event on, `idle_s` after the recording's start. At realtime priority and into
	memory, so that no other program and no disk holds it up; again if a CPU stood still meanwhile."""
	def recorded():
		recorder = e2e.Recorder(directory, "-e", "sched,syscall", *options, before=["chrt", "-f", "10"])
		recorder.wait_until_recording()
		time.sleep(idle_s)
		with e2e.Stalls() as stalls, e2e.getppid_on_every_cpu():
			time.sleep(LOAD_S)
		trace = recorder.end()
		lost = trace.summary()["lost"]
		print(f"{' '.join(options) or 'default buffers'}, after {idle_s} s: {lost} of {trace.summary()['tokens']:,} lost, CPUs woke at most "
		      f"{stalls.latest * 1000:.1f} ms late")
		trace.stalled = lost and str(stalls)
		return trace

	trace = e2e.until_undisturbed(recorded, lambda trace: trace.stalled, 5)
	trace.expect_true()
	e2e.equal(f"lost, with {options}", trace.summary()["lost"], 0)
	return trace


def nothing_lost():
	"""The default buffers hold the full rate from its first event on. So do rings that are full after half of the
	longest time between two looks: who fills a half of one wakes the recorder."""
	place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
	with tempfile.TemporaryDirectory(dir=place) as memory:
		trace = at_full_rate(f"{memory}/default", 0)
		unknown = trace.report("--by", "cpu")["cpus"]
		# Not known is what runs on a CPU before its first token, which a time slice of another program may delay.
		e2e.expect(all(row["unknown_percent"] < 25 for row in unknown), f"nothing lost, but unknown: {unknown}")
		e2e.expect(trace.summary()["tokens"] > 100_000, "the load was no load")
		rate = max(file.stat().st_size for file in trace.directory.glob("kernel_cpu*")) / LOAD_S
		ring = max(rate * SLOWEST_LOOK_S / 2, 1 << 18)
		buffer = f"{int(ring * 16 / 15 * len(e2e.cpus()) * 3 / 1024)}K"  # a third of it are rings, 15/16 of them level 0
		at_full_rate(f"{memory}/small", 1, "--buffer", buffer)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(tiny_buffer, recorder_stopped, nothing_lost)
