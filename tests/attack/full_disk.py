#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A file system of 4 MiB: whatever writes there says that it is full and exits with an error, what was written before can be
read, a flight recorder goes on; and so it is with a standard output that takes nothing."""
import signal
import subprocess
import time

import e2e


class SmallDisk:
	"""Mounted during the `with`."""

	def __enter__(self):
		self.path = e2e.work / "disk"
		self.path.mkdir(exist_ok=True)
		e2e.run("mount", "-t", "tmpfs", "-o", "size=4m", "none", self.path)
		return self

	def __exit__(self, *unused):
		e2e.run("umount", "-l", self.path)

	def fill(self):
		with (self.path / "fill").open("wb", buffering=0) as file:
			try:
				while file.write(bytes(4096)):
					pass
			except OSError:
				pass


def expect_refused(what, done):
	e2e.expect(0 < done.returncode < 128, f"{what} on a full disk: exit code {done.returncode}")
	e2e.expect("space" in done.stderr or "full" in done.stderr or "annot write" in done.stderr, f"{what} on a full disk: {done.stderr}")


def recordings():
	with SmallDisk() as disk, e2e.getppid_on_every_cpu():
		done = e2e.run(e2e.monitor, "record", "--no-calibration", "-o", disk.path / "full", "-d", 20, exit_code=None)
		expect_refused("record", done)
		trace = e2e.Trace(disk.path / "full")
		red = trace.check()
		e2e.expect(red, "check says nothing of a recording that its disk ended")
		e2e.expect(trace.rows(), "it has no rows")


def flights():
	with SmallDisk() as disk:
		recorder = e2e.Recorder("disk/flight", "--flight=64M")
		until = time.monotonic() + 60
		while not (recorder.directory / ".monitor" / "flight.json").exists() and time.monotonic() < until:
			time.sleep(0.05)
		with e2e.getppid_on_every_cpu():
			time.sleep(2)
		expect_refused("snapshot", e2e.run(e2e.monitor, "snapshot", recorder.directory, exit_code=None))
		expect_refused("the next snapshot", e2e.run(e2e.monitor, "snapshot", recorder.directory, exit_code=None))
		e2e.equal("the flight recorder", recorder.process.poll(), None)
		e2e.run(e2e.monitor, "snapshot", "--status", recorder.directory, exit_code=1)
		empty = [path.name for path in recorder.directory.glob("0*") if not any(path.glob("kernel_cpu*"))]
		e2e.equal("directories in which there is nothing", empty, [])
		e2e.run("find", recorder.directory, "-maxdepth", 1, "-name", "0*", "-exec", "rm", "-r", "{}", "+")
		e2e.run(e2e.monitor, "snapshot", "--before", "20ms", recorder.directory)
		e2e.run(e2e.monitor, "snapshot", "--status", recorder.directory)
		recorder.end(signal.SIGINT, exit_code=125)


def conversions():
	trace = e2e.record("trace", "-p", "cmd", "--stacks", command=(e2e.workload, "getppid", 20000))
	with SmallDisk() as disk:
		disk.fill()
		for name, *command in (("view", "view", "--no-cache", "-o"), ("perfetto", "convert", "--to", "perfetto", "-o"), ("lttng", "convert", "--to", "lttng", "-o"),
		                       ("speedscope", "convert", "--to", "speedscope", "-o"), ("merge", "merge", "--copy", "-o")):
			traces = [trace.directory] * (2 if name == "merge" else 1)
			expect_refused(name, e2e.run(e2e.reader, *command, disk.path / name, *traces, exit_code=None))
		expect_refused("flame graph", e2e.run(e2e.reader, "report", trace.directory, "stacks", "-o", disk.path / "flame.html", exit_code=None))
		expect_refused("archive", e2e.run(e2e.reader, "archive", "--archive", disk.path / "archive", "add", trace.directory, "p/e/m", exit_code=None))
		expect_refused("record", e2e.run(e2e.monitor, "record", "--no-calibration", "-o", disk.path / "none", "-d", 1, exit_code=None))
	for command in (("list",), ("report",), ("query", "--json"), ("info",), ("check",), ("convert", "--to", "folded", "-o", "-")):
		words = [str(word) for word in (e2e.reader, *command, trace.directory, *(["SELECT * FROM events"] if command[0] == "query" else []))]
		with open("/dev/full", "w", encoding="utf-8") as full:
			done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
		e2e.expect(0 < done.returncode < 128, f"{command[0]} to a full device: exit code {done.returncode} {done.stderr}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(recordings, flights, conversions)
