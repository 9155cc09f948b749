#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recorder is killed at random moments (KILLS=N in the environment: at N of them): what it wrote can be read by everything, `check` says that it is
incomplete and finds nothing else wrong, and babeltrace2 reads it.
"""
import os
import random
import signal
import shutil
import time

import e2e

KILLS, EARLY_KILLS = int(os.environ.get("KILLS", 4)), 2
# Of a recording of less than two seconds the sync events may still have been in memory.
MAY_FAIL = {"complete", "clock"}


def one_kill(number, seconds):
	recorder = e2e.Recorder("killed", "--buffer", "8M").wait_until_recording()
	time.sleep(seconds)
	recorder.send(signal.SIGKILL)
	trace = recorder.end(number=None, exit_code=-signal.SIGKILL)
	what = f"kill {number} after {seconds:.3f} s"
	red = trace.check()
	texts = [statement["text"] for statement in trace.statements if statement["id"] in red - MAY_FAIL]
	e2e.expect("complete" in red and red <= MAY_FAIL, f"{what}: red is {sorted(red)}: {texts}")
	e2e.expect(not trace.summary()["complete"], f"{what}: info says complete")
	e2e.expect("incomplete" in e2e.run(e2e.monitor, "report", trace.directory).stdout, f"{what}: report is silent")
	listed = e2e.run(e2e.monitor, "list", trace.directory)
	e2e.expect(listed.stdout.count("\n") == sum(row["tokens"] for row in trace.info()["classes"]), f"{what}: list and info differ")
	if shutil.which("babeltrace2") and number % 4 == 0:
		read = e2e.run("babeltrace2", trace.directory)
		e2e.equal(f"{what}: events by babeltrace2", read.stdout.count("\n"), listed.stdout.count("\n"))
		others = [line for line in read.stderr.splitlines() if line and "Tracer discarded" not in line]
		e2e.expect(not others, f"{what}: babeltrace2 says {others}")


def kills():
	numbers = random.Random()
	with e2e.Load((e2e.workload, "family", 2000), (e2e.workload, "family", 100)):
		for number in range(KILLS):
			one_kill(number, numbers.uniform(0, 1.2))


def early_kills():
	"""While it starts: a sentence or an answer, never a crash."""
	for _ in range(EARLY_KILLS):
		recorder = e2e.Recorder("early")
		time.sleep(random.uniform(0, 0.6))
		recorder.send(signal.SIGKILL)
		trace = recorder.end(number=None, exit_code=-signal.SIGKILL)
		for verb in ("list", "report", "info", "check"):
			done = e2e.run(e2e.monitor, verb, trace.directory, exit_code=None)
			e2e.expect(done.returncode in (0, 1), f"{verb} of an early kill: exit code {done.returncode}")
			e2e.expect(done.returncode == 0 or done.stdout or done.stderr.startswith("monitor: "),
			           f"{verb} of an early kill says {done.stderr!r}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(kills, early_kills)
