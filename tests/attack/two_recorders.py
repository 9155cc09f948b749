#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second recorder in the directory of one that runs, with --force: it is refused with the number of the first, whose
trace stays whole. After the first has died the directory can be had. An attack on a directory that several use.
"""
import signal
import time

import e2e

LITTLE = ("-e", "sched", "--buffer", "1M")


def refused(what, directory, pid):
	done = e2e.run(e2e.monitor, "record", "--no-calibration", "--force", "-o", directory, *LITTLE, "-d", "0.1", exit_code=125)
	e2e.expect(f"used by another recorder, process {pid}" in done.stderr, f"{what}: {done.stderr!r} does not name process {pid}")


def living():
	for name, *options in (("plain", *LITTLE), ("stacks", "--stacks=cpu", *LITTLE), ("statistics", "--statistics", "1s"), ("counts", "--statistics", "1s", "--count-only")):
		recorder = e2e.Recorder(name, *options)
		deadline = time.monotonic() + 30
		while not (recorder.directory / "metadata").exists() and time.monotonic() < deadline:
			time.sleep(0.01)
		refused(name, recorder.directory, recorder.process.pid)
		recorder.end().expect_sound()


def snapshots():
	"""Neither the directory of a flight recorder nor that of a snapshot which it writes."""
	recorder = e2e.Recorder("flight", "--flight", "8M", "-e", "sched")
	deadline = time.monotonic() + 30
	while not (recorder.directory / ".monitor/flight.json").exists() and time.monotonic() < deadline:
		time.sleep(0.01)
	refused("flight", recorder.directory, recorder.process.pid)
	with e2e.Load((e2e.monitor, "snapshot", "--after", "3s", recorder.process.pid)):
		while not (recorder.directory / "001").exists() and time.monotonic() < deadline:
			time.sleep(0.01)
		refused("snapshot", recorder.directory / "001", recorder.process.pid)
		time.sleep(4)
	recorder.end()
	e2e.Trace(recorder.directory / "001").expect_sound()


def killed():
	recorder = e2e.Recorder("killed", "--stacks=cpu", *LITTLE).wait_until_recording()
	recorder.end(signal.SIGKILL, exit_code=None)
	e2e.record("killed", "--force", *LITTLE, "-d", "0.1").expect_sound()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(living, snapshots, killed)
