#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Losses are exact: with a tiny buffer, and with a recorder that stands still, every event is a token or a counted
loss; babeltrace2 finds the same losses in the streams; a report says how much time is unknown because of them."""
import re
import signal
import shutil
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
	if compare and shutil.which("babeltrace2"):
		errors = e2e.run("babeltrace2", trace.directory).stderr
		theirs = sum(map(int, DISCARDED.findall(errors)))
		e2e.equal("discarded events by babeltrace2", theirs, refused)
	print(f"{trace.directory.name}: {seen} seen = {tokens} tokens + {refused} refused + {too_deep} too deep; "
	      f"{unknown:.1f} % of CPU time unknown")


def tiny_buffer():
	with e2e.getppid_on_every_cpu():
		trace = e2e.record("tiny", "--buffer", "256k", "-d", 1)
	expect_exact_losses(trace, compare=True)


def recorder_stopped():
	with e2e.getppid_on_every_cpu():
		recorder = e2e.Recorder("stopped", "-e", "sched,syscall").wait_until_recording()
		time.sleep(0.2)
		recorder.send(signal.SIGSTOP)
		time.sleep(2)
		recorder.send(signal.SIGCONT)
		time.sleep(0.3)
		trace = recorder.end()
	expect_exact_losses(trace)


def nothing_lost():
	"""The same load without a stop: the default buffers hold it, if the machine lets the recorder run at all."""
	for _ in range(5):
		with e2e.getppid_on_every_cpu():
			trace = e2e.record("all", "--force", "-e", "sched,syscall", "-d", 1)
		if trace.summary()["lost"] == 0:
			break
		expect_exact_losses(trace)
	trace.expect_true()
	e2e.equal("lost in the best of 5 recordings", trace.summary()["lost"], 0)
	unknown = trace.report("--by", "cpu")["cpus"]
	e2e.expect(all(row["unknown_percent"] < 2 for row in unknown), f"nothing lost, but unknown: {unknown}")
	e2e.expect(trace.summary()["tokens"] > 200_000, "the load was no load")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(tiny_buffer, recorder_stopped, nothing_lost)
