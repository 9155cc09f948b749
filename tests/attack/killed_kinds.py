#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recorders of statistics, of counts only, of stacks and of flights are killed at random moments: no process of theirs is left, what
there is can be read and says that it is incomplete, and the directory can be used again (KILLS=N: N of each)."""
import os
import pathlib
import random
import signal
import time

import e2e

KINDS = {"statistics": ("--statistics", "1s"), "counts": ("--statistics", "1s", "--count-only"), "stacks": ("--stacks=cpu,offcpu",), "flight": ("--flight=8M",)}
SEED = int(os.environ.get("SEED", time.time_ns() % 1000))


def processes_of(directory):
	found = []
	for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
		try:
			if str(directory).encode() in path.read_bytes().split(b"\0"):
				found.append(path.parent.name)
		except OSError:
			pass
	return found


def traces_of(kind, directory):
	found = sorted(directory.glob("[0-9]*")) if kind == "flight" else [directory]
	return [path for path in found if (path / "metadata").exists()]


def one_kill(kind, options, seconds):
	what = f"{kind}, killed after {seconds:.3f} s"
	recorder = e2e.Recorder("killed", "--force", *options)
	with e2e.getppid_on_every_cpu():
		time.sleep(seconds)
		if kind == "flight":
			recorder.send(signal.SIGUSR1)
			time.sleep(seconds / 100)
		recorder.send(signal.SIGKILL)
		recorder.end(number=None, exit_code=-signal.SIGKILL)
	until = time.monotonic() + 10
	while processes_of(recorder.directory) and time.monotonic() < until:
		time.sleep(0.05)
	e2e.equal(f"{what}: processes that are left", processes_of(recorder.directory), [])
	for directory in traces_of(kind, recorder.directory):
		for command in ("check", "report", "stat", "list", "info"):
			done = e2e.run(e2e.monitor, command, directory, exit_code=None, timeout=60)
			e2e.expect(done.returncode in (0, 1), f"{what}: {command}: {done.returncode}: {done.stderr}")
			if command == "check" and kind != "flight":
				text = done.stdout + done.stderr
				e2e.expect("incomplete" in text or "killed" in text or "not completed" in text, f"{what}: check does not say so: {text}")
	again = e2e.record("killed", "--no-calibration", "--force", "-e", "sched", command=("true",))
	e2e.equal(f"{what}: what is left of it", [path.name for path in again.directory.iterdir() if "replaced" in path.name or path.name.startswith("statistics")], [])


def kills():
	print(f"seed {SEED}")
	chance = random.Random(SEED)
	for _ in range(int(os.environ.get("KILLS", 2))):
		for kind, options in KINDS.items():
			one_kill(kind, options, chance.uniform(0.2, 3.2))


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(kills)
